// VOP1, VOP2, VOP3: f32.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/numerics/arithmetic.h"
#include "runtime/emulator/numerics/convert.h"
#include "runtime/emulator/numerics/division.h"
#include "runtime/emulator/numerics/transcendental.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;

/// v_cubeid and its kin agree on the major axis: z wins ties, then y.
enum class Axis : u8 { kX, kY, kZ };
MONOJIT_EMULATOR_INLINE Axis major_axis(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  return az >= ax && az >= ay ? Axis::kZ : ay >= ax ? Axis::kY : Axis::kX;
}

constexpr Entry kEntries[] = {
    vector<[](float a, float b) { return a + b; }>("v_add_f32"),
    vector<[](float a, float b) { return a - b; }>("v_sub_f32"),
    vector<[](float a, float b) { return b - a; }>("v_subrev_f32"),
    vector<[](float a, float b) { return a * b; }>("v_mul_f32"),
    vector<[](u32 a, u32 b) { return n::mul_legacy_f32(a, b); }>("v_mul_legacy_f32"),
    vector<[](float a, float b, float c) { return __builtin_fmaf(a, b, c); }>("v_fma_f32"),
    vector<[](float a, float b, float c) { return __builtin_fmaf(a, b, c); }>("v_fmac_f32", kTied),
    vector<[](float a, float b, float c) { return __builtin_fmaf(a, b, c); }>("v_fmaak_f32"),
    vector<[](float a, float b, float c) { return __builtin_fmaf(a, b, c); }>("v_fmamk_f32"),
    vector<[](Single a, Single b, Mode mode) { return n::min_number(a.bits, b.bits, mode.ieee); }>("v_min_f32"),
    vector<[](Single a, Single b, Mode mode) { return n::max_number(a.bits, b.bits, mode.ieee); }>("v_max_f32"),
    vector<[](Single a, Single b, Single c, Mode mode) { return n::min3_number(a.bits, b.bits, c.bits, mode.ieee); }>(
        "v_min3_f32"),
    vector<[](Single a, Single b, Single c, Mode mode) { return n::max3_number(a.bits, b.bits, c.bits, mode.ieee); }>(
        "v_max3_f32"),
    vector<[](Single a, Single b, Single c, Mode mode) { return n::med3_f32(a.bits, b.bits, c.bits, mode.ieee); }>(
        "v_med3_f32"),
    vector<[](Single a, Single b, Single c) { return n::minimum3(a.bits, b.bits, c.bits); }>("v_minimum3_f32"),
    vector<[](Single a, Single b, Single c) { return n::maximum3(a.bits, b.bits, c.bits); }>("v_maximum3_f32"),
    vector<[](u32 a) { return n::rndne(a); }>("v_rndne_f32"),
    vector<[](u32 a) { return n::floor(a); }>("v_floor_f32"),
    vector<[](u32 a) { return n::ceil(a); }>("v_ceil_f32"),
    vector<[](u32 a) { return n::trunc(a); }>("v_trunc_f32"),
    vector<[](u32 a) { return n::fract(a); }>("v_fract_f32"),
    vector<[](u32 a) { return n::rcp_f32(a); }>("v_rcp_f32"),
    vector<[](u32 a) { return n::rcp_f32(a); }>("v_rcp_iflag_f32"),
    vector<[](u32 a) { return n::rsq_f32(a); }>("v_rsq_f32"),
    vector<[](u32 a) { return n::sqrt_f32(a); }>("v_sqrt_f32"),
    vector<[](u32 a) { return n::exp2_f32(a); }>("v_exp_f32"),
    vector<[](u32 a) { return n::exp2_f32(a); }>("v_exp_legacy_f32"),
    vector<[](u32 a) { return n::log2_f32(a); }>("v_log_f32"),
    vector<[](u32 a) { return n::log2_f32(a); }>("v_log_legacy_f32"),
    vector<[](u32 a) { return n::sin_f32(a); }>("v_sin_f32"),
    vector<[](u32 a) { return n::cos_f32(a); }>("v_cos_f32"),
    vector<[](Single a) { return n::frexp_exponent(a.bits); }>("v_frexp_exp_i32_f32"),
    vector<[](Single a) { return n::frexp_mantissa(a.bits); }>("v_frexp_mant_f32"),
    vector<[](u32 a, i32 b) { return n::ldexp_f32(a, b); }>("v_ldexp_f32"),
    vector<[](u32 a, u32 b, u32 c) { return n::div_scale(a, b, c).value; },
           [](u32 a, u32 b, u32 c) { return n::div_scale(a, b, c).vcc; }>("v_div_scale_f32"),
    vector<[](u32 a, u32 b, u32 c, bool vcc) { return n::div_fmas(a, b, c, vcc); }>("v_div_fmas_f32", kVccSource),
    vector<[](u32 a, u32 b, u32 c) { return n::div_fixup(a, b, c); }>("v_div_fixup_f32"),
    vector<[](float x, float y, float z) {
      const Axis axis = major_axis(x, y, z);
      return axis == Axis::kZ   ? (z < 0 ? 5.0f : 4.0f)
             : axis == Axis::kY ? (y < 0 ? 3.0f : 2.0f)
                                : (x < 0 ? 1.0f : 0.0f);
    }>("v_cubeid_f32"),
    vector<[](float x, float y, float z) {
      const Axis axis = major_axis(x, y, z);
      return axis == Axis::kZ ? (z < 0 ? -x : x) : axis == Axis::kY ? x : (x < 0 ? z : -z);
    }>("v_cubesc_f32"),
    vector<[](float x, float y, float z) {
      const Axis axis = major_axis(x, y, z);
      return axis == Axis::kY ? (y < 0 ? -z : z) : -y;
    }>("v_cubetc_f32"),
    vector<[](float x, float y, float z) {
      const Axis axis = major_axis(x, y, z);
      return 2 * (axis == Axis::kZ ? z : axis == Axis::kY ? y : x);
    }>("v_cubema_f32"),
};

}  // namespace

std::span<const Entry> vector_float_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
