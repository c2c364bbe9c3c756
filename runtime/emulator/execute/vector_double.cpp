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

constexpr Entry kEntries[] = {
    vector<[](double a, double b) { return a + b; }>("v_add_f64"),
    vector<[](double a, double b) { return a * b; }>("v_mul_f64"),
    vector<[](double a, double b, double c) { return __builtin_fma(a, b, c); }>("v_fma_f64"),
    vector<[](double a, double b, double c) { return __builtin_fma(a, b, c); }>("v_fmac_f64", kTied),
    vector<[](double a, double b) { return as_double(n::min_number(as_bits(a), as_bits(b))); }>("v_min_f64"),
    vector<[](double a, double b) { return as_double(n::max_number(as_bits(a), as_bits(b))); }>("v_max_f64"),
    vector<[](double a) { return as_double(n::rndne(as_bits(a))); }>("v_rndne_f64"),
    vector<[](double a) { return as_double(n::floor(as_bits(a))); }>("v_floor_f64"),
    vector<[](double a) { return as_double(n::ceil(as_bits(a))); }>("v_ceil_f64"),
    vector<[](double a) { return as_double(n::trunc(as_bits(a))); }>("v_trunc_f64"),
    vector<[](double a) { return as_double(n::fract(as_bits(a))); }>("v_fract_f64"),
    vector<[](double a) { return as_double(n::rcp_f64(as_bits(a))); }>("v_rcp_f64"),
    vector<[](double a) { return as_double(n::rsq_f64(as_bits(a))); }>("v_rsq_f64"),
    vector<[](double a) { return as_double(n::sqrt_f64(as_bits(a))); }>("v_sqrt_f64"),
    vector<[](double a) { return n::frexp_exponent(as_bits(a)); }>("v_frexp_exp_i32_f64"),
    vector<[](double a) { return as_double(n::frexp_mantissa(as_bits(a))); }>("v_frexp_mant_f64"),
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
    vector<[](double a) { return n::i32_from_f64(as_bits(a)); }>("v_cvt_i32_f64"),
    vector<[](double a) { return n::u32_from_f64(as_bits(a)); }>("v_cvt_u32_f64"),
    vector<[](i32 a) { return as_double(n::f64_from_i32(a)); }>("v_cvt_f64_i32"),
    vector<[](u32 a) { return as_double(n::f64_from_u32(a)); }>("v_cvt_f64_u32"),
    vector<[](u32 a) { return as_double(n::f64_from_f32(a)); }>("v_cvt_f64_f32"),
    vector<[](double a) { return n::f32_from_f64(as_bits(a)); }>("v_cvt_f32_f64"),
};

}  // namespace

std::span<const Entry> vector_double_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
