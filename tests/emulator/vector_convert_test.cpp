// Conversions of f32 and f64, and the f32 functions that have no host instruction.
#include <algorithm>
#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

/// The integer next to x that `round` gives, NaN 0, limited.
int64_t integer(double x, double low, double high) {
  return static_cast<int64_t>(std::isnan(x) ? 0.0 : std::clamp(x, low, high));
}
uint32_t pack(int64_t low, int64_t high) { return (u(low) & 0xffff) | u(high) << 16; }

uint64_t half_towards_zero(float x) {
  if (std::isnan(x)) return 0x7e00;
  const auto nearest = static_cast<f16>(x);
  std::uint16_t code = std::bit_cast<std::uint16_t>(nearest);
  if (!std::isinf(x) && std::fabs(static_cast<float>(nearest)) > std::fabs(x)) --code;
  return code;
}

/// The value of an f32's bits plus a fraction of the lowest kept bit, cut.
uint64_t stochastic_bf16(uint32_t x, uint32_t seed) {
  const uint32_t magnitude = x & 0x7fffffff;
  if (magnitude > 0x7f800000) return (x >> 16) | 0x40;
  if (magnitude == 0x7f800000) return x >> 16;
  return (x >> 31 << 15) | (uint64_t{magnitude} + (seed >> 16)) >> 16;
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

TEST_CASE("f32 becomes integers") {
  const LaneCase cases[] = {
      {"v_cvt_flr_i32_f32 v10, v2", Match::kBits32,
       [](const Lane& l) { return u(integer(std::floor(f(l.a)), INT32_MIN, INT32_MAX)); }},
      {"v_cvt_rpi_i32_f32 v10, v2", Match::kBits32,
       [](const Lane& l) { return u(integer(std::floor(double{f(l.a)} + 0.5), INT32_MIN, INT32_MAX)); }},
      {"v_cvt_pknorm_i16_f32 v10, v2, v4", Match::kBits32,
       [](const Lane& l) {
         const auto part = [](float x) {
           return integer(std::nearbyint(std::clamp(std::isnan(x) ? 0.0f : x, -1.0f, 1.0f) * 32767.0f), -32767, 32767);
         };
         return pack(part(f(l.a)), part(f(l.b)));
       }},
      {"v_cvt_pk_u8_f32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         const unsigned shift = 8 * (l.b32() & 3);
         return (l.c32() & ~(0xffu << shift)) | u(integer(std::nearbyint(f(l.a)), 0, 255)) << shift;
       }},
      {"v_cvt_pkaccum_u8_f32 v10, v2, 2", Match::kBits32,
       [](const Lane& l) { return (kOldResult & ~0xff0000u) | u(integer(std::nearbyint(f(l.a)), 0, 255)) << 16; }},
      {"v_cvt_f32_ubyte0 v10, v2", Match::kFloat32,
       [](const Lane& l) { return bits(static_cast<float>(l.a32() & 0xff)); }},
      {"v_cvt_f32_ubyte1 v10, v2", Match::kFloat32,
       [](const Lane& l) { return bits(static_cast<float>(l.a32() >> 8 & 0xff)); }},
      {"v_cvt_f32_ubyte3 v10, v2", Match::kFloat32,
       [](const Lane& l) { return bits(static_cast<float>(l.a32() >> 24)); }},
  };
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("integers are packed with saturation") {
  const LaneCase cases[] = {
      {"v_cvt_pk_i16_i32 v10, v2, v4", Match::kBits32,
       [](const Lane& l) { return pack(limited(s(l.a32()), -0x8000, 0x7fff), limited(s(l.b32()), -0x8000, 0x7fff)); }},
      {"v_cvt_pk_u16_u32 v10, v2, v4", Match::kBits32,
       [](const Lane& l) { return pack(limited(l.a32(), 0, 0xffff), limited(l.b32(), 0, 0xffff)); }},
      {"v_prng_b32 v10, v2", Match::kBits32,
       [](const Lane& l) { return (l.a32() << 1) ^ ((l.a32() >> 31) != 0 ? 0xc5u : 0u); }},
      {"v_cvt_f32_bf16 v10, v2", Match::kBits32, [](const Lane& l) { return l.a32() << 16; }},
      {"v_cvt_f64_i32 v[10:11], v2", Match::kFloat64,
       [](const Lane& l) { return bits(static_cast<double>(s(l.a32()))); }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

TEST_CASE("f32 becomes f16 and bf16 in pairs, towards zero and by chance") {
  const LaneCase cases[] = {
      {"v_cvt_pkrtz_f16_f32 v10, v2, v4\n v_and_b32 v10, 0xffff, v10", Match::kHalf,
       [](const Lane& l) { return half_towards_zero(f(l.a)); }},
      {"v_cvt_pk_f16_f32 v10, v2, v4\n v_lshrrev_b32 v10, 16, v10", Match::kHalf,
       [](const Lane& l) { return uint64_t{std::bit_cast<std::uint16_t>(static_cast<f16>(f(l.b)))}; }},
      {"v_cvt_sr_f16_f32 v10, v2, 0\n v_and_b32 v10, 0xffff, v10", Match::kHalf,
       [](const Lane& l) {
         constexpr uint64_t kInfinity = 0x7c00;
         if (std::fabs(f(l.a)) >= 65536) return kInfinity | (l.a32() >> 16 & 0x8000);
         return uint64_t{half_towards_zero(f(l.a))};
       }},
      {"v_cvt_sr_bf16_f32 v10, v2, v4", Match::kBits32,
       [](const Lane& l) { return low_half(kOldResult, stochastic_bf16(l.a32(), l.b32())); }},
      {"v_cvt_sr_bf16_f32 v10, v2, v4 op_sel:[0,0,1]", Match::kBits32,
       [](const Lane& l) { return high_half(kOldResult, stochastic_bf16(l.a32(), l.b32())); }},
  };
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("a stochastic f16 is one of its neighbours, by the seed's fraction") {
  const LaneCase cases[] = {
      {"v_cvt_sr_f16_f32 v10, v2, v4\n v_and_b32 v10, 0xffff, v10\n v_cvt_pkrtz_f16_f32 v12, v2, 0\n"
       " v_sub_u16 v10, v10, v12",
       Match::kBits32,
       [](const Lane& l) {
         if (!std::isfinite(f(l.a))) return 0u;
         if (std::fabs(f(l.a)) >= 65536) return 1u;  // Inf instead of the largest number
         const uint64_t cut = half_towards_zero(f(l.a));
         const double below = std::fabs(h(cut)), above = (cut & 0x7fff) == 0x7bff ? 65536 : std::fabs(h(cut + 1));
         // The seed's 13 high bits are a fraction of the step; the value's own is cut to as many.
         const double fraction = std::floor((std::fabs(f(l.a)) - below) / (above - below) * 0x1p13);
         return fraction + (l.b32() >> 19) >= 0x1p13 ? 1u : 0u;
       }},
  };
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("f32 functions") {
  const LaneCase cases[] = {
      {"v_fract_f32 v10, v2", Match::kFloat32,
       [](const Lane& l) {
         const float x = f(l.a);
         return bits(std::isfinite(x) ? std::fmin(x - std::floor(x), 0x1.fffffep-1f) : NAN);
       }},
      {"v_mul_legacy_f32 v10, v2, v4", Match::kFloat32,
       [](const Lane& l) { return bits(f(l.a) == 0 || f(l.b) == 0 ? 0.0f : f(l.a) * f(l.b)); }},
      {"v_rcp_iflag_f32 v10, v2", Match::kNear32, [](const Lane& l) { return bits(flushed(1 / flushed(f(l.a)))); }},
      {"v_dot2_f32_bf16 v10, v2, v4, v6", Match::kFloat32,
       [](const Lane& l) {
         const auto product = [&](uint32_t x, uint32_t y) { return flushed(flushed(f(x)) * flushed(f(y))); };
         const float low = product(l.a32() << 16, l.b32() << 16);
         const float high = product(l.a32() & 0xffff0000, l.b32() & 0xffff0000);
         return bits(flushed(flushed(low + high) + flushed(f(l.c))));
       }},
      {"v_dot2_f32_bf16 v10, v2, v4, v6 neg_lo:[0,1,0] neg_hi:[1,0,0]", Match::kFloat32,
       [](const Lane& l) {
         const auto product = [&](uint32_t x, uint32_t y) { return flushed(flushed(f(x)) * flushed(f(y))); };
         const float low = product(l.a32() << 16, (l.b32() << 16) ^ 0x80000000);
         const float high = product((l.a32() & 0xffff0000) ^ 0x80000000, l.b32() & 0xffff0000);
         return bits(flushed(flushed(low + high) + flushed(f(l.c))));
       }},
      {"v_minimum3_f32 v10, v2, v4, v6", Match::kFloat32,
       [](const Lane& l) {
         const float x = f(l.a), y = f(l.b), z = f(l.c);
         if (std::isnan(x) || std::isnan(y) || std::isnan(z)) return bits(NAN);
         const auto smaller = [](float p, float q) { return p == q ? (std::signbit(p) ? p : q) : std::fmin(p, q); };
         return bits(smaller(smaller(x, y), z));
       }},
  };
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("cube map faces") {
  const auto major = [](const Lane& l) {
    const float x = std::fabs(f(l.a)), y = std::fabs(f(l.b)), z = std::fabs(f(l.c));
    return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
  };
  const LaneCase cases[] = {
      {"v_cubeid_f32 v10, v2, v4, v6", Match::kFloat32,
       [=](const Lane& l) {
         const float axis[] = {f(l.a), f(l.b), f(l.c)};
         return bits(static_cast<float>(2 * major(l)) + (axis[major(l)] < 0 ? 1.0f : 0.0f));
       }},
      {"v_cubema_f32 v10, v2, v4, v6", Match::kFloat32,
       [=](const Lane& l) {
         const float axis[] = {f(l.a), f(l.b), f(l.c)};
         return bits(2 * axis[major(l)]);
       }},
      {"v_cubesc_f32 v10, v2, v4, v6", Match::kFloat32,
       [=](const Lane& l) {
         const float x = f(l.a), z = f(l.c);
         const float sides[] = {x < 0 ? z : -z, x, z < 0 ? -x : x};
         return bits(sides[major(l)]);
       }},
      {"v_cubetc_f32 v10, v2, v4, v6", Match::kFloat32,
       [=](const Lane& l) {
         const float y = f(l.b), z = f(l.c);
         const float sides[] = {-y, y < 0 ? -z : z, -y};
         return bits(sides[major(l)]);
       }},
  };
  check_lane_cases(cases, Values::kFloats);
}

}  // namespace
}  // namespace monojit::emulator::test
