#pragma once

#include "ir/mfma.h"
#include "ir/value.h"

namespace monojit::ir {

// MX conversions of gfx950: OCP FP8 / BF8 / FP6 / BF6 / FP4 with a scale. Of the scale, an f32, only the exponent
// counts: the factor is 2^(its exponent field - 127). Narrowing divides by the factor and rounds to nearest even once;
// widening multiplies. FP4, FP6 and BF6 saturate; FP8 and BF8 do not. `Half` picks 16 bits of a dword, `Byte` 8 bits
// (two FP4, low nibble first).

namespace detail {
llvm::Value* mx_narrow_half(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* scale, llvm::Value* old, bool high,
                            Loc loc);
llvm::Value* mx_narrow_half_bf16(Op op, llvm::Value* pair, llvm::Value* scale, llvm::Value* old, bool high, Loc loc);
llvm::Value* mx_widen_half(Op op, llvm::Value* packed, llvm::Value* scale, bool high, Loc loc);
llvm::Value* mx_widen_byte(Op op, llvm::Value* packed, llvm::Value* scale, int byte, Loc loc);
llvm::Value* mx_narrow_byte(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* scale, llvm::Value* old, int byte,
                            Loc loc);
llvm::Value* mx_narrow_byte_pair(Op op, llvm::Value* pair, llvm::Value* scale, llvm::Value* old, int byte, Loc loc);
llvm::Value* mx_narrow_random(Op op, llvm::Value* pair, llvm::Value* seed, llvm::Value* scale, llvm::Value* old,
                              int byte, Loc loc);
}  // namespace detail

template <MxFormat F>
concept EightBit = F == MxFormat::kFp8 || F == MxFormat::kBf8;
template <MxFormat F>
concept SixBit = F == MxFormat::kFp6 || F == MxFormat::kBf6;

/// Two f32 to 8 bits each, into half `Half` of old.
template <MxFormat F, int Half>
  requires EightBit<F>
Int32 mx_pack8(const Float32& a, const Float32& b, const Float32& scale, const Int32& old, Loc loc = Loc::current()) {
  static_assert(Half == 0 || Half == 1);
  constexpr Op kOp = F == MxFormat::kFp8 ? Op::cvt_scalef32_pk_fp8_f32 : Op::cvt_scalef32_pk_bf8_f32;
  return Int32(Raw{detail::mx_narrow_half(kOp, a.get(), b.get(), scale.get(), old.get(), Half == 1, loc)});
}
/// Two bf16 to 8 bits each, into half `Half` of old.
template <MxFormat F, int Half>
  requires EightBit<F>
Int32 mx_pack8(const Vec<BFloat16, 2>& pair, const Float32& scale, const Int32& old, Loc loc = Loc::current()) {
  static_assert(Half == 0 || Half == 1);
  constexpr Op kOp = F == MxFormat::kFp8 ? Op::cvt_scalef32_pk_fp8_bf16 : Op::cvt_scalef32_pk_bf8_bf16;
  return Int32(Raw{detail::mx_narrow_half_bf16(kOp, pair.get(), scale.get(), old.get(), Half == 1, loc)});
}
/// Byte `Byte` to f32.
template <MxFormat F, int Byte>
  requires EightBit<F>
Float32 mx_unpack8(const Int32& packed, const Float32& scale, Loc loc = Loc::current()) {
  static_assert(Byte >= 0 && Byte < 4);
  constexpr Op kOp = F == MxFormat::kFp8 ? Op::cvt_scalef32_f32_fp8 : Op::cvt_scalef32_f32_bf8;
  return Float32(Raw{detail::mx_widen_byte(kOp, packed.get(), scale.get(), Byte, loc)});
}
/// The two bytes of half `Half` to f32.
template <MxFormat F, int Half>
  requires EightBit<F>
Vec<Float32, 2> mx_unpack8_pair(const Int32& packed, const Float32& scale, Loc loc = Loc::current()) {
  static_assert(Half == 0 || Half == 1);
  constexpr Op kOp = F == MxFormat::kFp8 ? Op::cvt_scalef32_pk_f32_fp8 : Op::cvt_scalef32_pk_f32_bf8;
  return Vec<Float32, 2>(Raw{detail::mx_widen_half(kOp, packed.get(), scale.get(), Half == 1, loc)});
}
/// The two bytes of half `Half` to bf16.
template <MxFormat F, int Half>
  requires EightBit<F>
Vec<BFloat16, 2> mx_unpack8_bf16(const Int32& packed, const Float32& scale, Loc loc = Loc::current()) {
  static_assert(Half == 0 || Half == 1);
  constexpr Op kOp = F == MxFormat::kFp8 ? Op::cvt_scalef32_pk_bf16_fp8 : Op::cvt_scalef32_pk_bf16_bf8;
  return Vec<BFloat16, 2>(Raw{detail::mx_widen_half(kOp, packed.get(), scale.get(), Half == 1, loc)});
}

/// The two FP4 of byte `Byte` to f32 or bf16.
template <int Byte>
Vec<Float32, 2> mx_unpack4(const Int32& packed, const Float32& scale, Loc loc = Loc::current()) {
  static_assert(Byte >= 0 && Byte < 4);
  return Vec<Float32, 2>(Raw{detail::mx_widen_byte(Op::cvt_scalef32_pk_f32_fp4, packed.get(), scale.get(), Byte, loc)});
}
template <int Byte>
Vec<BFloat16, 2> mx_unpack4_bf16(const Int32& packed, const Float32& scale, Loc loc = Loc::current()) {
  static_assert(Byte >= 0 && Byte < 4);
  return Vec<BFloat16, 2>(
      Raw{detail::mx_widen_byte(Op::cvt_scalef32_pk_bf16_fp4, packed.get(), scale.get(), Byte, loc)});
}
/// Two values to FP4, into byte `Byte` of old, a in the low nibble.
template <int Byte>
Int32 mx_pack4(const Float32& a, const Float32& b, const Float32& scale, const Int32& old, Loc loc = Loc::current()) {
  static_assert(Byte >= 0 && Byte < 4);
  return Int32(
      Raw{detail::mx_narrow_byte(Op::cvt_scalef32_pk_fp4_f32, a.get(), b.get(), scale.get(), old.get(), Byte, loc)});
}
template <int Byte>
Int32 mx_pack4(const Vec<BFloat16, 2>& pair, const Float32& scale, const Int32& old, Loc loc = Loc::current()) {
  static_assert(Byte >= 0 && Byte < 4);
  return Int32(
      Raw{detail::mx_narrow_byte_pair(Op::cvt_scalef32_pk_fp4_bf16, pair.get(), scale.get(), old.get(), Byte, loc)});
}
/// The same with stochastic rounding by the random bits `seed`.
template <int Byte>
Int32 mx_pack4_random(const Vec<Float32, 2>& pair, const Int32& seed, const Float32& scale, const Int32& old,
                      Loc loc = Loc::current()) {
  static_assert(Byte >= 0 && Byte < 4);
  return Int32(Raw{detail::mx_narrow_random(Op::cvt_scalef32_sr_pk_fp4_f32, pair.get(), seed.get(), scale.get(),
                                            old.get(), Byte, loc)});
}
/// The next state of the generator behind stochastic rounding, a 32-bit shift register.
Int32 random_bits(const Int32& state, Loc loc = Loc::current());

/// 32 f32 to 6 bits each. The instruction interleaves: element 2n comes from even[n], 2n + 1 from odd[n].
template <MxFormat F>
  requires SixBit<F>
Vec<Int32, 6> mx_pack6(const Vec<Float32, 16>& even, const Vec<Float32, 16>& odd, const Float32& scale,
                       Loc loc = Loc::current()) {
  constexpr Op kOp = F == MxFormat::kFp6 ? Op::cvt_scalef32_2xpk16_fp6_f32 : Op::cvt_scalef32_2xpk16_bf6_f32;
  return Vec<Int32, 6>(Raw{emit::call(kOp, {even.get(), odd.get(), scale.get()}, loc)});
}
template <MxFormat F>
  requires SixBit<F>
Vec<Float32, 32> mx_unpack6(const Vec<Int32, 6>& packed, const Float32& scale, Loc loc = Loc::current()) {
  constexpr Op kOp = F == MxFormat::kFp6 ? Op::cvt_scalef32_pk32_f32_fp6 : Op::cvt_scalef32_pk32_f32_bf6;
  return Vec<Float32, 32>(Raw{emit::call(kOp, {packed.get(), scale.get()}, loc)});
}

}  // namespace monojit::ir
