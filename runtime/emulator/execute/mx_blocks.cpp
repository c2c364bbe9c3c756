// Conversions of 32 elements a lane between f32, f16 or bf16 and the 6-bit MX formats.
//
// Micro-op: dst rows, a the first source's rows, then b and c as the text has them: a second source or seed, and the
// scale. aux: bit i is set where operand i of the text is a vector register.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/numerics/bf16.h"
#include "runtime/emulator/numerics/f16.h"
#include "runtime/emulator/numerics/mx.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;
using n::SmallFormat;

constexpr u32 kElements = 32;
constexpr u32 kCodeWords = 6;

/// A lane's value of an operand that may be scalar.
u32 value_of(Wave& wave, const MicroOp* op, u32 offset, u32 operand, u32 lane) {
  return (op->aux >> operand & 1) != 0 ? wave.row(offset)[lane] : wave.word(offset);
}

// How 32 source elements lie in rows. f32 obeys MODE's denormal bits, the other formats keep theirs.
struct Words {  // f32
  static u32 get(const u32* rows, u32 lane, u32 element, Mode mode) {
    const u32 value = rows[element * kLanes + lane];
    return mode.flush_in32 ? n::flush_denormal(value) : value;
  }
};
template <auto kDecode>
struct Halves {  // f16 or bf16, the even element in the low half
  static u32 get(const u32* rows, u32 lane, u32 element, Mode) {
    return kDecode(rows[element / 2 * kLanes + lane] >> (element % 2 * 16) & 0xffff);
  }
};
constexpr auto kDecodeHalf = [](u32 bits) { return n::decode_f16(bits); };
constexpr auto kDecodeBrain = [](u32 bits) { return n::decode_bf16(bits); };

void store_codes(u32* rows, u32 lane, const u32 (&words)[kCodeWords]) {
  for (u32 i = 0; i < kCodeWords; ++i) rows[i * kLanes + lane] = words[i];
}

template <class Body>
MONOJIT_EMULATOR_INLINE void for_active(Wave& wave, Body body) {
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) body(static_cast<u32>(__builtin_ctzll(lanes)));
}

template <SmallFormat kFormat, class Source>
[[gnu::noinline]] void narrow_lanes(Wave& wave, const MicroOp* op) {
  const Mode mode = Mode::of(wave);
  for_active(wave, [&](u32 lane) {
    u32 values[kElements], words[kCodeWords];
    for (u32 i = 0; i < kElements; ++i) values[i] = Source::get(wave.row(op->a), lane, i, mode);
    n::scaled_6bit_block<kFormat>(values, value_of(wave, op, op->b, 2, lane), words);
    store_codes(wave.row(op->dst), lane, words);
  });
}

/// Even elements from the first source, odd ones from the second.
template <SmallFormat kFormat>
[[gnu::noinline]] void narrow_two_lanes(Wave& wave, const MicroOp* op) {
  const Mode mode = Mode::of(wave);
  for_active(wave, [&](u32 lane) {
    u32 values[kElements], words[kCodeWords];
    for (u32 i = 0; i < kElements; ++i) {
      values[i] = Words::get(wave.row(i % 2 == 0 ? op->a : op->b), lane, i / 2, mode);
    }
    n::scaled_6bit_block<kFormat>(values, value_of(wave, op, op->c, 3, lane), words);
    store_codes(wave.row(op->dst), lane, words);
  });
}

template <SmallFormat kFormat, class Source>
[[gnu::noinline]] void narrow_stochastic_lanes(Wave& wave, const MicroOp* op) {
  const Mode mode = Mode::of(wave);
  for_active(wave, [&](u32 lane) {
    u32 values[kElements], words[kCodeWords];
    for (u32 i = 0; i < kElements; ++i) values[i] = Source::get(wave.row(op->a), lane, i, mode);
    n::scaled_6bit_block_stochastic<kFormat>(values, value_of(wave, op, op->b, 2, lane),
                                             value_of(wave, op, op->c, 3, lane), words);
    store_codes(wave.row(op->dst), lane, words);
  });
}

/// kNarrow null: f32 results in 32 rows; else halves in 16.
template <SmallFormat kFormat, auto kNarrow, bool kToHalves>
[[gnu::noinline]] void widen_lanes(Wave& wave, const MicroOp* op) {
  const Mode mode = Mode::of(wave);
  for_active(wave, [&](u32 lane) {
    u32 words[kCodeWords], codes[kElements];
    for (u32 i = 0; i < kCodeWords; ++i) words[i] = wave.row(op->a)[i * kLanes + lane];
    const u32 scale = value_of(wave, op, op->b, 2, lane);
    n::unpack_6bit(words, codes);
    u32* const out = wave.row(op->dst);
    for (u32 i = 0; i < kElements; ++i) {
      const u32 value = kNarrow(n::widen_scaled<kFormat>(codes[i], scale));
      if constexpr (kToHalves) {
        u32& word = out[i / 2 * kLanes + lane];
        word = i % 2 == 0 ? value : word | value << 16;
      } else {
        out[i * kLanes + lane] = mode.flush_out32 ? n::flush_denormal(value) : value;
      }
    }
  });
}

/// The conversions round to nearest even whatever MODE says.
template <auto kBody>
void block_handler(Wave& wave, const MicroOp* op) {
  if (!wave.plain_mode) _mm_setcsr(kHostModeDefault);
  kBody(wave, op);
  if (!wave.plain_mode) _mm_setcsr(wave.host_mode32);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

template <auto kBody>
consteval Entry block(std::string_view mnemonic) {
  return {
      .mnemonic = mnemonic, .form = Form::kHandler, .count = CountClass::kVector, .handlers = {block_handler<kBody>}};
}

constexpr auto kSame = [](u32 f32) { return f32; };
constexpr auto kEncodeHalf = [](u32 f32) { return u32{n::encode_f16(f32, false)}; };
constexpr auto kEncodeBrain = [](u32 f32) { return u32{n::encode_bf16(f32)}; };

#define MONOJIT_SIX_BIT(format, name)                                                                       \
  block<narrow_lanes<format, Halves<kDecodeHalf>>>("v_cvt_scalef32_pk32_" name "_f16"),                     \
      block<narrow_lanes<format, Halves<kDecodeBrain>>>("v_cvt_scalef32_pk32_" name "_bf16"),               \
      block<narrow_two_lanes<format>>("v_cvt_scalef32_2xpk16_" name "_f32"),                                \
      block<narrow_stochastic_lanes<format, Words>>("v_cvt_scalef32_sr_pk32_" name "_f32"),                 \
      block<narrow_stochastic_lanes<format, Halves<kDecodeHalf>>>("v_cvt_scalef32_sr_pk32_" name "_f16"),   \
      block<narrow_stochastic_lanes<format, Halves<kDecodeBrain>>>("v_cvt_scalef32_sr_pk32_" name "_bf16"), \
      block<widen_lanes<format, kSame, false>>("v_cvt_scalef32_pk32_f32_" name),                            \
      block<widen_lanes<format, kEncodeHalf, true>>("v_cvt_scalef32_pk32_f16_" name),                       \
      block<widen_lanes<format, kEncodeBrain, true>>("v_cvt_scalef32_pk32_bf16_" name)

constexpr Entry kEntries[] = {
    MONOJIT_SIX_BIT(n::kFormatE2M3, "fp6"),
    MONOJIT_SIX_BIT(n::kFormatE3M2, "bf6"),
};

#undef MONOJIT_SIX_BIT

}  // namespace

std::span<const Entry> mx_block_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
