// VOP3P on 16-bit pairs, mixed Half/f32, dot products, and conversions whose op_sel is an operand of the semantic.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/half.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/numerics/bf16.h"
#include "runtime/emulator/numerics/fp8.h"
#include "runtime/emulator/numerics/mx.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;

template <class T>
MONOJIT_EMULATOR_INLINE T half_of(u32 pair, bool high) {
  return std::bit_cast<T>(static_cast<u16>(high ? pair >> 16 : pair));
}

template <class T>
MONOJIT_EMULATOR_INLINE u32 pair_of(T low, T high) {
  return u32{std::bit_cast<u16>(low)} | u32{std::bit_cast<u16>(high)} << 16;
}

/// Both halves of two or three sources; the lowering has put the halves that op_sel names in place.
template <class T, auto kFunction>
MONOJIT_EMULATOR_INLINE u32 both(u32 a, u32 b) {
  return pair_of<T>(kFunction(half_of<T>(a, false), half_of<T>(b, false)),
                    kFunction(half_of<T>(a, true), half_of<T>(b, true)));
}
template <class T, auto kFunction>
MONOJIT_EMULATOR_INLINE u32 both(u32 a, u32 b, u32 c) {
  return pair_of<T>(kFunction(half_of<T>(a, false), half_of<T>(b, false), half_of<T>(c, false)),
                    kFunction(half_of<T>(a, true), half_of<T>(b, true), half_of<T>(c, true)));
}

/// The same for Half, whose results MODE rounds.
template <auto kFunction>
consteval Entry packed_half2(std::string_view mnemonic) {
  return vector<[](HalfPair a, HalfPair b, Mode mode) {
    return HalfPairResult{kFunction(a.low(), b.low(), mode), kFunction(a.high(), b.high(), mode)};
  }>(mnemonic, kPacked);
}
template <auto kFunction>
consteval Entry packed_half3(std::string_view mnemonic, u16 flags = kPacked) {
  return vector<[](HalfPair a, HalfPair b, HalfPair c) {
    return HalfPairResult{kFunction(a.low(), b.low(), c.low()), kFunction(a.high(), b.high(), c.high())};
  }>(mnemonic, flags);
}

template <class T, auto kFunction>
consteval Entry packed2(std::string_view mnemonic) {
  return vector<[](u32 a, u32 b) { return both<T, kFunction>(a, b); }>(mnemonic, kPacked);
}
template <class T, auto kFunction>
consteval Entry packed3(std::string_view mnemonic) {
  return vector<[](u32 a, u32 b, u32 c) { return both<T, kFunction>(a, b, c); }>(mnemonic, kPacked);
}

/// A source of v_fma_mix_*: the f32 itself, or the half that op_sel names where op_sel_hi is set. The lowering passes
/// op_sel in bits 0..2, op_sel_hi in 3..5; neg and abs in 6..8 and 9..11.
MONOJIT_EMULATOR_INLINE float mix_source(u32 x, Select select, u32 index, Mode mode) {
  const u32 half = select.bit(index) ? x >> 16 : x & 0xffff;
  const u32 chosen = select.bit(3 + index) ? n::decode_f16(mode.flush_in16 ? n::flush_denormal_f16(half) : half) : x;
  const u32 absolute = select.bit(9 + index) ? chosen & 0x7fffffff : chosen;
  return n::as_float(absolute ^ (select.bit(6 + index) ? 0x80000000u : 0));
}
MONOJIT_EMULATOR_INLINE float mix(u32 a, u32 b, u32 c, Select select, Mode mode) {
  return __builtin_fmaf(mix_source(a, select, 0, mode), mix_source(b, select, 1, mode), mix_source(c, select, 2, mode));
}

consteval Entry mixed(std::string_view mnemonic) {
  return vector<[](u32 a, u32 b, u32 c, Select s, Mode mode) { return mix(a, b, c, s, mode); }>(mnemonic, kMixes);
}
/// The f32 result rounded once more.
consteval Entry mixed_half(std::string_view mnemonic, u16 part) {
  return vector<[](u32 a, u32 b, u32 c, Select s, Mode mode) { return HalfResult{mix(a, b, c, s, mode)}; }>(
      mnemonic, static_cast<u16>(kMixes | part));
}

template <class T>
MONOJIT_EMULATOR_INLINE u32 dot4(u32 a, u32 b, u32 c) {
  u32 sum = c;
  for (u32 i = 0; i < 4; ++i) {
    sum += static_cast<u32>(i32{std::bit_cast<T>(static_cast<u8>(a >> (8 * i)))} *
                            std::bit_cast<T>(static_cast<u8>(b >> (8 * i))));
  }
  return sum;
}

template <class T>
MONOJIT_EMULATOR_INLINE u32 dot2(u32 a, u32 b, u32 c) {
  return static_cast<u32>(i32{half_of<T>(a, false)} * half_of<T>(b, false)) +
         static_cast<u32>(i32{half_of<T>(a, true)} * half_of<T>(b, true)) + c;
}

MONOJIT_EMULATOR_INLINE u32 unsigned_dot2(u32 a, u32 b, u32 c) {
  return (a & 0xffff) * (b & 0xffff) + (a >> 16) * (b >> 16) + c;
}

MONOJIT_EMULATOR_INLINE u32 nibble_dot8(u32 a, u32 b, u32 c, bool is_signed) {
  u32 sum = c;
  for (u32 i = 0; i < 8; ++i) {
    const i32 x = static_cast<i32>(a << (28 - 4 * i)) >> 28;
    const i32 y = static_cast<i32>(b << (28 - 4 * i)) >> 28;
    sum += is_signed ? static_cast<u32>(x * y) : static_cast<u32>(x & 15) * static_cast<u32>(y & 15);
  }
  return sum;
}

/// v_bitop3_b32: bit {a, b, c} of an 8-entry truth table, a the high bit.
MONOJIT_EMULATOR_INLINE u32 truth_table(u32 a, u32 b, u32 c, Select table) {
  u32 result = 0;
  for (u32 i = 0; i < 8; ++i) {
    const u32 matches = ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
    result |= table.bit(i) ? matches : 0;
  }
  return result;
}

constexpr Entry kEntries[] = {
    packed_half2<[](Half a, Half b, Mode) { return half_add(a, b); }>("v_pk_add_f16"),
    packed_half2<[](Half a, Half b, Mode) { return half_mul(a, b); }>("v_pk_mul_f16"),
    packed_half2<[](Half a, Half b, Mode mode) { return half_min(a, b, mode); }>("v_pk_min_f16"),
    packed_half2<[](Half a, Half b, Mode mode) { return half_max(a, b, mode); }>("v_pk_max_f16"),
    packed_half3<[](Half a, Half b, Half c) { return half_fma(a, b, c); }>("v_pk_fma_f16"),
    packed_half3<[](Half a, Half b, Half c) { return half_fma(a, b, c); }>("v_pk_fmac_f16", kTied),
    packed_half3<[](Half a, Half b, Half c) {
      return half_from_bits(n::minimum3(exact_half_bits(a), exact_half_bits(b), exact_half_bits(c)));
    }>("v_pk_minimum3_f16"),
    packed_half3<[](Half a, Half b, Half c) {
      return half_from_bits(n::maximum3(exact_half_bits(a), exact_half_bits(b), exact_half_bits(c)));
    }>("v_pk_maximum3_f16"),
    packed2<u16, [](u16 a, u16 b) { return static_cast<u16>(a + b); }>("v_pk_add_u16"),
    packed2<u16, [](u16 a, u16 b) { return static_cast<u16>(a - b); }>("v_pk_sub_u16"),
    packed2<u16, [](u16 a, u16 b) { return static_cast<u16>(a + b); }>("v_pk_add_i16"),
    packed2<u16, [](u16 a, u16 b) { return static_cast<u16>(a - b); }>("v_pk_sub_i16"),
    packed2<u16, [](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }>("v_pk_mul_lo_u16"),
    packed3<u16, [](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }>("v_pk_mad_u16"),
    packed3<u16, [](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }>("v_pk_mad_i16"),
    packed2<u16, [](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }>("v_pk_lshlrev_b16"),
    packed2<u16, [](u16 a, u16 b) { return static_cast<u16>(b >> (a & 15)); }>("v_pk_lshrrev_b16"),
    packed2<i16, [](i16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); }>("v_pk_ashrrev_i16"),
    packed2<u16, [](u16 a, u16 b) { return a < b ? a : b; }>("v_pk_min_u16"),
    packed2<u16, [](u16 a, u16 b) { return a > b ? a : b; }>("v_pk_max_u16"),
    packed2<i16, [](i16 a, i16 b) { return a < b ? a : b; }>("v_pk_min_i16"),
    packed2<i16, [](i16 a, i16 b) { return a > b ? a : b; }>("v_pk_max_i16"),
    vector<[](u32 a, u32 b, u32 c) { return dot2<i16>(a, b, c); }>("v_dot2_i32_i16", kPacked),
    vector<[](u32 a, u32 b, u32 c) { return unsigned_dot2(a, b, c); }>("v_dot2_u32_u16", kPacked),
    vector<[](u32 a, u32 b, u32 c) { return dot4<i8>(a, b, c); }>("v_dot4_i32_i8"),
    vector<[](u32 a, u32 b, u32 c) { return dot4<u8>(a, b, c); }>("v_dot4_u32_u8"),
    vector<[](u32 a, u32 b, u32 c) { return dot4<i8>(a, b, c); }>("v_dot4c_i32_i8", kTied),
    vector<[](u32 a, u32 b, u32 c) { return dot2<i16>(a, b, c); }>("v_dot2c_i32_i16", kTied),
    vector<[](u32 a, u32 b, u32 c) { return nibble_dot8(a, b, c, true); }>("v_dot8_i32_i4"),
    vector<[](u32 a, u32 b, u32 c) { return nibble_dot8(a, b, c, false); }>("v_dot8_u32_u4"),
    vector<[](u32 a, u32 b, u32 c) { return nibble_dot8(a, b, c, true); }>("v_dot8c_i32_i4", kTied),

    mixed("v_fma_mix_f32"),
    mixed_half("v_fma_mixlo_f16", kInsertsLow),
    mixed_half("v_fma_mixhi_f16", kInsertsHigh),

    vector<[](u32 a, u32 b, u32 c, Select table) { return truth_table(a, b, c, table); }>("v_bitop3_b32", kSelectsInOp),
    vector<[](u16 a, u16 b, u16 c, Select table) { return static_cast<u16>(truth_table(a, b, c, table)); }>(
        "v_bitop3_b16", kSelectsInOp),
};

}  // namespace

std::span<const Entry> vector_packed_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
