// VOPC. v_cmpx_* are the same comparisons; the lowering copies their result to EXEC.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/half.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/numerics/bits.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;

/// The class bits of v_cmp_class: signalling NaN, quiet NaN, then -inf, -normal, -denormal, -0, and the positive ones.
template <class Bits>
MONOJIT_EMULATOR_INLINE bool in_class(Bits x, u32 classes) {
  constexpr u32 kSignalling = 1, kQuiet = 2, kNegativeInfinity = 4, kPositiveInfinity = 512;
  const bool negative = static_cast<std::make_signed_t<Bits>>(x) < 0;
  // Distance of the kind from the infinity of its sign: inf 0, normal 1, denormal 2, zero 3.
  const u32 kind = n::is_infinite(x) ? 0u : n::is_zero(x) ? 3u : n::is_denormal(x) ? 2u : 1u;
  const u32 ordered = negative ? kNegativeInfinity << kind : kPositiveInfinity >> kind;
  const u32 bit = n::is_nan(x) ? (n::is_signaling(x) ? kSignalling : kQuiet) : ordered;
  return (bit & classes) != 0;
}

/// An f16's bits seen as f32, but with its own denormals and signalling NaNs.
MONOJIT_EMULATOR_INLINE bool half_in_class(u16 x, u32 classes) {
  const u32 magnitude = x & 0x7fffu;
  const u32 sign = (x & 0x8000u) << 16;
  const u32 widened = magnitude >= 0x7c00  ? 0x7f800000u | (magnitude & 0x3ffu) << 13
                      : magnitude >= 0x400 ? 0x3f800000u
                                           : magnitude;
  return in_class(sign | widened, classes);
}

#define MONOJIT_FLOAT_COMPARES(type, suffix, widened)                                                          \
  vector<[](type, type) { return false; }>("v_cmp_f_" suffix),                                                 \
      vector<[](type a, type b) -> bool { return widened(a) < widened(b); }>("v_cmp_lt_" suffix),              \
      vector<[](type a, type b) -> bool { return widened(a) == widened(b); }>("v_cmp_eq_" suffix),             \
      vector<[](type a, type b) -> bool { return widened(a) <= widened(b); }>("v_cmp_le_" suffix),             \
      vector<[](type a, type b) -> bool { return widened(a) > widened(b); }>("v_cmp_gt_" suffix),              \
      vector<[](type a, type b) -> bool { return (widened(a) < widened(b)) | (widened(a) > widened(b)); }>(    \
          "v_cmp_lg_" suffix),                                                                                 \
      vector<[](type a, type b) -> bool { return widened(a) >= widened(b); }>("v_cmp_ge_" suffix),             \
      vector<[](type a, type b) -> bool { return (widened(a) == widened(a)) & (widened(b) == widened(b)); }>(  \
          "v_cmp_o_" suffix),                                                                                  \
      vector<[](type a, type b) -> bool { return (widened(a) != widened(a)) | (widened(b) != widened(b)); }>(  \
          "v_cmp_u_" suffix),                                                                                  \
      vector<[](type a, type b) -> bool { return !(widened(a) >= widened(b)); }>("v_cmp_nge_" suffix),         \
      vector<[](type a, type b) -> bool { return !((widened(a) < widened(b)) | (widened(a) > widened(b))); }>( \
          "v_cmp_nlg_" suffix),                                                                                \
      vector<[](type a, type b) -> bool { return !(widened(a) > widened(b)); }>("v_cmp_ngt_" suffix),          \
      vector<[](type a, type b) -> bool { return !(widened(a) <= widened(b)); }>("v_cmp_nle_" suffix),         \
      vector<[](type a, type b) -> bool { return widened(a) != widened(b); }>("v_cmp_neq_" suffix),            \
      vector<[](type a, type b) -> bool { return !(widened(a) < widened(b)); }>("v_cmp_nlt_" suffix),          \
      vector<[](type, type) { return true; }>("v_cmp_tru_" suffix)

#define MONOJIT_INTEGER_COMPARES(type, suffix)                           \
  vector<[](type, type) { return false; }>("v_cmp_f_" suffix),           \
      vector<[](type a, type b) { return a < b; }>("v_cmp_lt_" suffix),  \
      vector<[](type a, type b) { return a == b; }>("v_cmp_eq_" suffix), \
      vector<[](type a, type b) { return a <= b; }>("v_cmp_le_" suffix), \
      vector<[](type a, type b) { return a > b; }>("v_cmp_gt_" suffix),  \
      vector<[](type a, type b) { return a != b; }>("v_cmp_ne_" suffix), \
      vector<[](type a, type b) { return a >= b; }>("v_cmp_ge_" suffix), \
      vector<[](type, type) { return true; }>("v_cmp_t_" suffix)

constexpr Entry kEntries[] = {
    MONOJIT_INTEGER_COMPARES(i16, "i16"),
    MONOJIT_INTEGER_COMPARES(u16, "u16"),
    MONOJIT_INTEGER_COMPARES(i32, "i32"),
    MONOJIT_INTEGER_COMPARES(u32, "u32"),
    MONOJIT_INTEGER_COMPARES(i64, "i64"),
    MONOJIT_INTEGER_COMPARES(u64, "u64"),
    MONOJIT_FLOAT_COMPARES(Half, "f16", widen),
    MONOJIT_FLOAT_COMPARES(float, "f32", ),
    MONOJIT_FLOAT_COMPARES(double, "f64", ),
    vector<[](u16 a, u32 b) { return half_in_class(a, b); }>("v_cmp_class_f16"),
    vector<[](u32 a, u32 b) { return in_class(a, b); }>("v_cmp_class_f32"),
    vector<[](double a, u32 b) { return in_class(n::as_bits(a), b); }>("v_cmp_class_f64"),
};

#undef MONOJIT_INTEGER_COMPARES
#undef MONOJIT_FLOAT_COMPARES

}  // namespace

std::span<const Entry> vector_compare_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
