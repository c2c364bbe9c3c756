// The lane functions of runtime/emulator/numerics over 64 lanes, as a table built once for each host instruction set.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator::numerics_test {

inline constexpr int kLanes = 64;

/// Plain arrays: an inline member function of the library, compiled here for one instruction set, might be kept for
/// all.
template <class Bits>
struct RowOf {
  Bits lane[kLanes] = {};
};

using Row = RowOf<std::uint32_t>;
using WideRow = RowOf<std::uint64_t>;

/// Operations on up to three rows; `flag` is FP16_OVFL, IEEE or VCC where the operation has one.
using LaneOperation = void (*)(Row& d, const Row& a, const Row& b, const Row& c, bool flag);
using WideOperation = void (*)(WideRow& d, const WideRow& a, const WideRow& b, const WideRow& c, bool flag);

struct LaneTable {
  LaneOperation decode_e4m3, decode_e5m2, decode_e4m3_fnuz, decode_e5m2_fnuz;
  LaneOperation encode_e4m3, encode_e5m2, encode_e4m3_fnuz, encode_e5m2_fnuz;
  LaneOperation stochastic_e4m3, stochastic_e5m2, stochastic_e4m3_fnuz, stochastic_e5m2_fnuz;
  LaneOperation fp8_pair;
  LaneOperation decode_e2m1, decode_e2m3, decode_e3m2;
  LaneOperation encode_e2m1, encode_e2m3, encode_e3m2;
  LaneOperation stochastic_e2m1;
  LaneOperation unscaled, scaled, fp4_pair, fp4_pair_stochastic, prng;
  LaneOperation decode_bf16, encode_bf16, decode_f16, encode_f16, encode_f16_towards_zero;
  LaneOperation dot2_bf16, dot2c_bf16, dot2_f16;
  LaneOperation rcp, rsq, sqrt, exp2, log2, sin, cos, mul_legacy;
  LaneOperation div_scale, div_scale_vcc, div_fmas, div_fixup, divide;
  LaneOperation min, max, med3, min3, max3, minimum3, maximum3;
  LaneOperation rndne, floor, ceil, trunc, fract;
  LaneOperation to_i32, to_u32, floor_to_i32, nearest_to_i32, from_i32, from_u32;
  LaneOperation frexp_exponent, frexp_mantissa, ldexp;
  WideOperation rcp_f64, rsq_f64, sqrt_f64, divide_f64, min_f64, max_f64, rndne_f64, fract_f64;
  WideOperation f64_to_i32, f64_to_u32, frexp_exponent_f64, frexp_mantissa_f64, ldexp_f64;
};

namespace isa_v3 {
const LaneTable& lane_table();
}
namespace isa_v4 {
const LaneTable& lane_table();
}

/// The instruction sets that this host can run.
inline std::vector<HostIsa> host_isas() {
  std::vector<HostIsa> isas;
  for (const HostIsa isa : {HostIsa::kX86V3, HostIsa::kX86V4})
    if (host_has(isa)) isas.push_back(isa);
  return isas;
}

inline const LaneTable& lanes(HostIsa isa) {
  return isa == HostIsa::kX86V4 ? isa_v4::lane_table() : isa_v3::lane_table();
}

}  // namespace monojit::emulator::numerics_test
