// VOP1, VOP2, VOP3: f64.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/numerics/arithmetic.h"
#include "runtime/emulator/numerics/convert.h"
#include "runtime/emulator/numerics/division.h"
#include "runtime/emulator/numerics/transcendental.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;
using n::as_bits;
using n::as_double;

/// Where the host's own flush does not reach.
MONOJIT_EMULATOR_INLINE u64 input(double x, Mode mode) {
  return mode.flush_in16 ? n::flush_denormal(as_bits(x)) : as_bits(x);
}

/// The 1,201 bits behind the point of 2/pi, the highest first.
constexpr u64 kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000,
};
constexpr u32 kTwoOverPiBits = 1201;

/// `count` bits of 2/pi from bit `first` behind the point on; zeros where it has none.
u64 two_over_pi(u32 first, u32 count) {
  u64 result = 0;
  for (u32 i = first; i < first + count; ++i) {
    const u64 bit = i < kTwoOverPiBits ? kTwoOverPi[i / 64] >> (63 - i % 64) & 1 : 0;
    result = result << 1 | bit;
  }
  return result;
}

/// v_trig_preop_f64: 53 bits of 2/pi as an integer, scaled to their place; huge arguments get 2^128 more.
double segment_of_two_over_pi(u64 argument, u32 segment) {
  constexpr u32 kSegmentBits = 53, kFirstShifted = 1077, kFirstScaled = 1968;
  const u32 exponent = static_cast<u32>(argument >> 52) & 0x7ff;
  const u32 shift = (segment & 31) * kSegmentBits + (exponent > kFirstShifted ? exponent - kFirstShifted : 0);
  const i32 scale = (exponent >= kFirstScaled ? 128 : 0) - static_cast<i32>(kSegmentBits + shift);
  return as_double(n::ldexp_f64(as_bits(static_cast<double>(two_over_pi(shift, kSegmentBits))), scale));
}

constexpr Entry kEntries[] = {
    vector<[](double a, double b) { return a + b; }>("v_add_f64"),
    vector<[](double a, double b) { return a * b; }>("v_mul_f64"),
    vector<[](double a, double b, double c) { return __builtin_fma(a, b, c); }>("v_fma_f64"),
    vector<[](double a, double b, double c) { return __builtin_fma(a, b, c); }>("v_fmac_f64", kTied),
    vector<[](double a, double b, Mode mode) {
      return as_double(n::min_number(input(a, mode), input(b, mode), mode.ieee));
    }>("v_min_f64"),
    vector<[](double a, double b, Mode mode) {
      return as_double(n::max_number(input(a, mode), input(b, mode), mode.ieee));
    }>("v_max_f64"),
    vector<[](double a) { return as_double(n::rndne(as_bits(a))); }>("v_rndne_f64"),
    vector<[](double a) { return as_double(n::floor(as_bits(a))); }>("v_floor_f64"),
    vector<[](double a) { return as_double(n::ceil(as_bits(a))); }>("v_ceil_f64"),
    vector<[](double a) { return as_double(n::trunc(as_bits(a))); }>("v_trunc_f64"),
    vector<[](double a) { return as_double(n::fract(as_bits(a))); }>("v_fract_f64"),
    vector<[](double a) { return as_double(n::rcp_f64(as_bits(a))); }>("v_rcp_f64"),
    vector<[](double a) { return as_double(n::rsq_f64(as_bits(a))); }>("v_rsq_f64"),
    vector<[](double a) { return as_double(n::sqrt_f64(as_bits(a))); }>("v_sqrt_f64"),
    vector<[](double a, Mode mode) { return n::frexp_exponent(input(a, mode)); }>("v_frexp_exp_i32_f64"),
    vector<[](double a, Mode mode) { return as_double(n::frexp_mantissa(input(a, mode))); }>("v_frexp_mant_f64"),
    vector<[](double a, i32 b) { return as_double(n::ldexp_f64(as_bits(a), b)); }>("v_ldexp_f64"),
    vector<[](double a, double b, double c) {
      return as_double(n::div_scale(as_bits(a), as_bits(b), as_bits(c)).value);
    },
           [](double a, double b, double c) { return n::div_scale(as_bits(a), as_bits(b), as_bits(c)).vcc; }>(
        "v_div_scale_f64"),
    vector<[](double a, double b, double c, bool vcc) {
      return as_double(n::div_fmas(as_bits(a), as_bits(b), as_bits(c), vcc));
    }>("v_div_fmas_f64", kVccSource),
    vector<[](double a, double b, double c) { return as_double(n::div_fixup(as_bits(a), as_bits(b), as_bits(c))); }>(
        "v_div_fixup_f64"),
    vector<[](double a, u32 b) { return segment_of_two_over_pi(as_bits(a), b); }>("v_trig_preop_f64"),
    vector<[](double a) { return n::i32_from_f64(as_bits(a)); }>("v_cvt_i32_f64"),
    vector<[](double a) { return n::u32_from_f64(as_bits(a)); }>("v_cvt_u32_f64"),
    vector<[](i32 a) { return as_double(n::f64_from_i32(a)); }>("v_cvt_f64_i32"),
    vector<[](u32 a) { return as_double(n::f64_from_u32(a)); }>("v_cvt_f64_u32"),
    vector<[](Single a) { return as_double(n::f64_from_f32(a.bits)); }>("v_cvt_f64_f32"),
    vector<[](double a) { return n::f32_from_f64(as_bits(a)); }>("v_cvt_f32_f64"),
};

}  // namespace

std::span<const Entry> vector_double_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
