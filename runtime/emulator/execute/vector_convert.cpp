// Conversions between integers, Half, bf16, f32, FP8 and the MX formats.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/half.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/numerics/bf16.h"
#include "runtime/emulator/numerics/convert.h"
#include "runtime/emulator/numerics/fp8.h"
#include "runtime/emulator/numerics/mx.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;

/// f32 to a normalised 16-bit integer: x * limit, rounded to nearest even, saturated.
MONOJIT_EMULATOR_INLINE i32 normalised(float x, float lowest, float limit) {
  const float clamped = x < lowest ? lowest : x > 1.0f ? 1.0f : x;
  return x != x ? 0 : static_cast<i32>(__builtin_rintf(clamped * limit));
}

MONOJIT_EMULATOR_INLINE u32 pack16(u32 low, u32 high) { return (low & 0xffff) | high << 16; }

/// `old` with x as an integer in byte `index`, saturated.
MONOJIT_EMULATOR_INLINE u32 with_byte(float x, u32 index, u32 old) {
  const float rounded = __builtin_rintf(x);
  const u32 byte = !(rounded > 0) ? 0 : rounded > 255 ? 255 : static_cast<u32>(static_cast<i32>(rounded));
  const u32 shift = 8 * (index & 3);
  return (old & ~(0xffu << shift)) | byte << shift;
}

constexpr Entry kEntries[] = {
    vector<[](u32 a) { return n::i32_from_f32(a); }>("v_cvt_i32_f32"),
    vector<[](u32 a) { return n::u32_from_f32(a); }>("v_cvt_u32_f32"),
    vector<[](u32 a) { return n::floor_i32_from_f32(a); }>("v_cvt_flr_i32_f32"),
    vector<[](u32 a) { return n::nearest_i32_from_f32(a); }>("v_cvt_rpi_i32_f32"),
    vector<[](i32 a) { return n::f32_from_i32(a); }>("v_cvt_f32_i32"),
    vector<[](u32 a) { return n::f32_from_u32(a); }>("v_cvt_f32_u32"),
    vector<[](u32 a) { return n::f32_from_byte(a, 0); }>("v_cvt_f32_ubyte0"),
    vector<[](u32 a) { return n::f32_from_byte(a, 1); }>("v_cvt_f32_ubyte1"),
    vector<[](u32 a) { return n::f32_from_byte(a, 2); }>("v_cvt_f32_ubyte2"),
    vector<[](u32 a) { return n::f32_from_byte(a, 3); }>("v_cvt_f32_ubyte3"),
    vector<[](Half a) { return widen(a); }>("v_cvt_f32_f16"),
    vector<[](Single a) { return half_from_bits(a.bits); }>("v_cvt_f16_f32"),
    vector<[](i16 a) { return HalfResult{static_cast<float>(a)}; }>("v_cvt_f16_i16"),
    vector<[](u16 a) { return HalfResult{static_cast<float>(a)}; }>("v_cvt_f16_u16"),
    vector<[](Single a, Single b) { return HalfPairResult{half_from_bits(a.bits), half_from_bits(b.bits)}; }>(
        "v_cvt_pk_f16_f32"),
    vector<[](u32 a, u32 seed, Mode mode) {
      return static_cast<u16>(n::encode_f16_stochastic(a, seed, mode.fp16_ovfl));
    }>("v_cvt_sr_f16_f32", kInsertsHalf),
    vector<[](u32 a, u32 seed) { return static_cast<u16>(n::encode_bf16_stochastic(a, seed)); }>("v_cvt_sr_bf16_f32",
                                                                                                 kInsertsHalf),
    vector<[](u32 a) { return static_cast<float>(static_cast<i32>(a << 28) >> 28) * 0.0625f; }>("v_cvt_off_f32_i4"),
    vector<[](Half a) {
      const i32 value = n::i32_from_f32(half_bits(a));
      return static_cast<i16>(value > 32767 ? 32767 : value < -32768 ? -32768 : value);
    }>("v_cvt_i16_f16"),
    vector<[](Half a) {
      const u32 value = n::u32_from_f32(half_bits(a));
      return static_cast<u16>(value > 65535 ? 65535 : value);
    }>("v_cvt_u16_f16"),
    vector<[](Half a) { return static_cast<i16>(normalised(widen(a), -1.0f, 32767.0f)); }>("v_cvt_norm_i16_f16"),
    vector<[](Half a) { return static_cast<u16>(normalised(widen(a), 0.0f, 65535.0f)); }>("v_cvt_norm_u16_f16"),
    vector<[](u32 a, u32 b) { return n::encode_f16_pair_towards_zero(a, b); }>("v_cvt_pkrtz_f16_f32"),
    vector<[](float a, float b) {
      return pack16(static_cast<u32>(normalised(a, -1.0f, 32767.0f)), static_cast<u32>(normalised(b, -1.0f, 32767.0f)));
    }>("v_cvt_pknorm_i16_f32"),
    vector<[](float a, float b) {
      return pack16(static_cast<u32>(normalised(a, 0.0f, 65535.0f)), static_cast<u32>(normalised(b, 0.0f, 65535.0f)));
    }>("v_cvt_pknorm_u16_f32"),
    vector<[](u32 a, u32 b) { return pack16(a > 65535 ? 65535 : a, b > 65535 ? 65535 : b); }>("v_cvt_pk_u16_u32"),
    vector<[](i32 a, i32 b) {
      const i32 low = a > 32767 ? 32767 : a < -32768 ? -32768 : a;
      const i32 high = b > 32767 ? 32767 : b < -32768 ? -32768 : b;
      return pack16(static_cast<u32>(low), static_cast<u32>(high));
    }>("v_cvt_pk_i16_i32"),
    vector<[](Half a, Half b) {
      return pack16(static_cast<u32>(normalised(widen(a), -1.0f, 32767.0f)),
                    static_cast<u32>(normalised(widen(b), -1.0f, 32767.0f)));
    }>("v_cvt_pknorm_i16_f16"),
    vector<[](Half a, Half b) {
      return pack16(static_cast<u32>(normalised(widen(a), 0.0f, 65535.0f)),
                    static_cast<u32>(normalised(widen(b), 0.0f, 65535.0f)));
    }>("v_cvt_pknorm_u16_f16"),
    vector<[](float a, u32 b, u32 c) { return with_byte(a, b, c); }>("v_cvt_pk_u8_f32"),
    vector<[](float a, u32 b, u32 old) { return with_byte(a, b, old); }>("v_cvt_pkaccum_u8_f32", kTied),

    vector<[](u32 a, u32 b) { return n::encode_bf16_pair(a, b); }>("v_cvt_pk_bf16_f32"),
    vector<[](u16 a) { return n::decode_bf16(a); }>("v_cvt_f32_bf16"),
    vector<[](u32 a, u32 b, u32 c) { return n::dot2_f32_bf16(a, b, c); }>("v_dot2_f32_bf16", kPacked),
    vector<[](u32 a, u32 b, u32 c) { return n::dot2c_f32_bf16(a, b, c); }>("v_dot2c_f32_bf16", kTied),
    vector<[](u32 a, u32 b, u32 c) { return n::dot2_f32_f16(a, b, c); }>("v_dot2_f32_f16", kPacked),
    vector<[](u32 a, u32 b, u32 c) { return n::dot2c_f32_f16(a, b, c); }>("v_dot2c_f32_f16", kTied),
    vector<[](u32 x) { return n::prng_step(x); }>("v_prng_b32"),
};

}  // namespace

std::span<const Entry> vector_convert_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
