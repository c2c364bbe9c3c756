#pragma once

#include "ir/value.h"
#include "ir/var.h"

namespace monojit::ir {

namespace detail {
llvm::Value* unary(Op op, llvm::Value* a, Shape shape, Loc loc);
llvm::Value* binary(Op op, llvm::Value* a, llvm::Value* b, Shape shape, Loc loc);
llvm::Value* ternary(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* c, Shape shape, Loc loc);
/// The upper half of the product.
llvm::Value* multiply_high(llvm::Value* a, llvm::Value* b, bool is_signed, Loc loc);
}  // namespace detail

// Functions of one name take Float32, Vec<Float32, N> and whatever else has the instruction. Operators: operators.h.

/// a * b + c, rounded once.
inline Float32 fma(const Float32& a, const Float32& b, const Float32& c, Loc loc = Loc::current()) {
  return Float32(Raw{detail::ternary(Op::fma_f32, a.get(), b.get(), c.get(), detail::kShape<Float32>, loc)});
}
inline Float64 fma(const Float64& a, const Float64& b, const Float64& c, Loc loc = Loc::current()) {
  return Float64(Raw{detail::ternary(Op::fma_f32, a.get(), b.get(), c.get(), detail::kShape<Float64>, loc)});
}
template <int N>
Vec<Float32, N> fma(const Vec<Float32, N>& a, const std::type_identity_t<Vec<Float32, N>>& b,
                    const std::type_identity_t<Vec<Float32, N>>& c, Loc loc = Loc::current()) {
  return Vec<Float32, N>(Raw{detail::ternary(Op::fma_f32, a.get(), b.get(), c.get(), {Kind::kFloat32, N}, loc)});
}
/// 1 / a to about 1 ulp: the bare instruction, which flushes denormals. So do the next ones.
inline Float32 rcp(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::rcp, a.get(), detail::kShape<Float32>, loc)});
}
/// 1 / sqrt(a); rsq(0) = inf.
inline Float32 rsq(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::rsq, a.get(), detail::kShape<Float32>, loc)});
}
inline Float32 sqrt(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::sqrt, a.get(), detail::kShape<Float32>, loc)});
}
/// 2 to the power of a.
inline Float32 exp2(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::exp2, a.get(), detail::kShape<Float32>, loc)});
}
inline Float32 log2(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::log2, a.get(), detail::kShape<Float32>, loc)});
}
/// The larger one; NaN if either is NaN, and +0 is larger than -0.
inline Float32 max(const Float32& a, const Float32& b, Loc loc = Loc::current()) {
  return Float32(Raw{detail::binary(Op::max_f32, a.get(), b.get(), detail::kShape<Float32>, loc)});
}
template <int N>
Vec<Float32, N> max(const Vec<Float32, N>& a, const std::type_identity_t<Vec<Float32, N>>& b,
                    Loc loc = Loc::current()) {
  return Vec<Float32, N>(Raw{detail::binary(Op::max_f32, a.get(), b.get(), {Kind::kFloat32, N}, loc)});
}
inline Float32 min(const Float32& a, const Float32& b, Loc loc = Loc::current()) {
  return Float32(Raw{detail::binary(Op::min_f32, a.get(), b.get(), detail::kShape<Float32>, loc)});
}
template <int N>
Vec<Float32, N> min(const Vec<Float32, N>& a, const std::type_identity_t<Vec<Float32, N>>& b,
                    Loc loc = Loc::current()) {
  return Vec<Float32, N>(Raw{detail::binary(Op::min_f32, a.get(), b.get(), {Kind::kFloat32, N}, loc)});
}
/// The larger one; the other one if one is NaN.
inline Float32 maxnum(const Float32& a, const Float32& b, Loc loc = Loc::current()) {
  return Float32(Raw{detail::binary(Op::maxnum_f32, a.get(), b.get(), detail::kShape<Float32>, loc)});
}
template <int N>
Vec<Float32, N> maxnum(const Vec<Float32, N>& a, const std::type_identity_t<Vec<Float32, N>>& b,
                       Loc loc = Loc::current()) {
  return Vec<Float32, N>(Raw{detail::binary(Op::maxnum_f32, a.get(), b.get(), {Kind::kFloat32, N}, loc)});
}
inline Float32 minnum(const Float32& a, const Float32& b, Loc loc = Loc::current()) {
  return Float32(Raw{detail::binary(Op::minnum_f32, a.get(), b.get(), detail::kShape<Float32>, loc)});
}
template <int N>
Vec<Float32, N> minnum(const Vec<Float32, N>& a, const std::type_identity_t<Vec<Float32, N>>& b,
                       Loc loc = Loc::current()) {
  return Vec<Float32, N>(Raw{detail::binary(Op::minnum_f32, a.get(), b.get(), {Kind::kFloat32, N}, loc)});
}
/// The middle one of three: clamps in one instruction. Not for NaN.
inline Float32 med3(const Float32& a, const Float32& b, const Float32& c, Loc loc = Loc::current()) {
  return Float32(Raw{detail::ternary(Op::med3, a.get(), b.get(), c.get(), detail::kShape<Float32>, loc)});
}
inline Float32 abs(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::abs_f32, a.get(), detail::kShape<Float32>, loc)});
}
template <int N>
Vec<Float32, N> abs(const Vec<Float32, N>& a, Loc loc = Loc::current()) {
  return Vec<Float32, N>(Raw{detail::unary(Op::abs_f32, a.get(), {Kind::kFloat32, N}, loc)});
}
inline Float32 floor(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::floor, a.get(), detail::kShape<Float32>, loc)});
}
inline Float32 ceil(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::ceil, a.get(), detail::kShape<Float32>, loc)});
}
inline Float32 trunc(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::trunc, a.get(), detail::kShape<Float32>, loc)});
}
/// To the nearest whole number, ties to even.
inline Float32 round_even(const Float32& a, Loc loc = Loc::current()) {
  return Float32(Raw{detail::unary(Op::round_even, a.get(), detail::kShape<Float32>, loc)});
}
/// The magnitude of a with the sign of b.
inline Float32 copysign(const Float32& a, const Float32& b, Loc loc = Loc::current()) {
  return Float32(Raw{detail::binary(Op::copysign_f32, a.get(), b.get(), detail::kShape<Float32>, loc)});
}
/// a times 2 to the power of `exponent`.
Float32 ldexp(const Float32& a, const Int32& exponent, Loc loc = Loc::current());
/// The exponent e of a = m * 2^e with m in [0.5, 1); 0 for zero, infinity and NaN.
Int32 frexp_exponent(const Float32& a, Loc loc = Loc::current());
/// Whether a is NaN.
Bool is_nan(const Float32& a, Loc loc = Loc::current());
/// a[0] * b[0] + a[1] * b[1] + c of bf16 pairs. gfx950. The inner roundings are not documented, and denormals are
/// flushed.
Float32 dot2(const Vec<BFloat16, 2>& a, const Vec<BFloat16, 2>& b, const Float32& c, Loc loc = Loc::current());
/// The sum of four products of signed bytes, plus c.
Int32 dot4(const Int32& a, const Int32& b, const Int32& c, Loc loc = Loc::current());

// Integers. min and max count as signed; the functions that count as unsigned say so in their names.

inline Int32 min(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{detail::binary(Op::min_i32, a.get(), b.get(), detail::kShape<Int32>, loc)});
}
inline Uniform<Int32> min(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{detail::binary(Op::min_i32, a.get(), b.get(), detail::kShape<Uniform<Int32>>, loc)});
}
inline Int32 max(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{detail::binary(Op::max_i32, a.get(), b.get(), detail::kShape<Int32>, loc)});
}
inline Uniform<Int32> max(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{detail::binary(Op::max_i32, a.get(), b.get(), detail::kShape<Uniform<Int32>>, loc)});
}
inline Int32 umin(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{detail::binary(Op::umin_i32, a.get(), b.get(), detail::kShape<Int32>, loc)});
}
inline Uniform<Int32> umin(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{detail::binary(Op::umin_i32, a.get(), b.get(), detail::kShape<Uniform<Int32>>, loc)});
}
inline Int32 umax(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{detail::binary(Op::umax_i32, a.get(), b.get(), detail::kShape<Int32>, loc)});
}
inline Uniform<Int32> umax(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{detail::binary(Op::umax_i32, a.get(), b.get(), detail::kShape<Uniform<Int32>>, loc)});
}
/// a / b as unsigned numbers.
inline Int32 udiv(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{emit::binary(emit::Binary::kUDiv, a.get(), b.get(), loc)});
}
inline Uniform<Int32> udiv(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{emit::binary(emit::Binary::kUDiv, a.get(), b.get(), loc)});
}
inline Int64 udiv(const Int64& a, const Int64& b, Loc loc = Loc::current()) {
  return Int64(Raw{emit::binary(emit::Binary::kUDiv, a.get(), b.get(), loc)});
}
inline Uniform<Int64> udiv(const Uniform<Int64>& a, const Uniform<Int64>& b, Loc loc = Loc::current()) {
  return Uniform<Int64>(Raw{emit::binary(emit::Binary::kUDiv, a.get(), b.get(), loc)});
}
inline Int32 umod(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{emit::binary(emit::Binary::kURem, a.get(), b.get(), loc)});
}
inline Uniform<Int32> umod(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{emit::binary(emit::Binary::kURem, a.get(), b.get(), loc)});
}
inline Int64 umod(const Int64& a, const Int64& b, Loc loc = Loc::current()) {
  return Int64(Raw{emit::binary(emit::Binary::kURem, a.get(), b.get(), loc)});
}
inline Uniform<Int64> umod(const Uniform<Int64>& a, const Uniform<Int64>& b, Loc loc = Loc::current()) {
  return Uniform<Int64>(Raw{emit::binary(emit::Binary::kURem, a.get(), b.get(), loc)});
}
/// a >> b, filled with zeros.
inline Int32 shr_logical(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{emit::binary(emit::Binary::kLShr, a.get(), b.get(), loc)});
}
inline Uniform<Int32> shr_logical(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{emit::binary(emit::Binary::kLShr, a.get(), b.get(), loc)});
}
inline Int64 shr_logical(const Int64& a, const Int64& b, Loc loc = Loc::current()) {
  return Int64(Raw{emit::binary(emit::Binary::kLShr, a.get(), b.get(), loc)});
}
inline Uniform<Int64> shr_logical(const Uniform<Int64>& a, const Uniform<Int64>& b, Loc loc = Loc::current()) {
  return Uniform<Int64>(Raw{emit::binary(emit::Binary::kLShr, a.get(), b.get(), loc)});
}
/// a < b as unsigned numbers.
inline Bool ult(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Bool(Raw{emit::compare(emit::Compare::kUlt, a.get(), b.get(), loc)});
}
inline Uniform<Bool> ult(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Bool>(Raw{emit::compare(emit::Compare::kUlt, a.get(), b.get(), loc)});
}
inline Bool ult(const Int64& a, const Int64& b, Loc loc = Loc::current()) {
  return Bool(Raw{emit::compare(emit::Compare::kUlt, a.get(), b.get(), loc)});
}
inline Uniform<Bool> ult(const Uniform<Int64>& a, const Uniform<Int64>& b, Loc loc = Loc::current()) {
  return Uniform<Bool>(Raw{emit::compare(emit::Compare::kUlt, a.get(), b.get(), loc)});
}
inline Bool ule(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Bool(Raw{emit::compare(emit::Compare::kUle, a.get(), b.get(), loc)});
}
inline Uniform<Bool> ule(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Bool>(Raw{emit::compare(emit::Compare::kUle, a.get(), b.get(), loc)});
}
inline Bool ule(const Int64& a, const Int64& b, Loc loc = Loc::current()) {
  return Bool(Raw{emit::compare(emit::Compare::kUle, a.get(), b.get(), loc)});
}
inline Uniform<Bool> ule(const Uniform<Int64>& a, const Uniform<Int64>& b, Loc loc = Loc::current()) {
  return Uniform<Bool>(Raw{emit::compare(emit::Compare::kUle, a.get(), b.get(), loc)});
}
inline Bool ugt(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Bool(Raw{emit::compare(emit::Compare::kUgt, a.get(), b.get(), loc)});
}
inline Uniform<Bool> ugt(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Bool>(Raw{emit::compare(emit::Compare::kUgt, a.get(), b.get(), loc)});
}
inline Bool ugt(const Int64& a, const Int64& b, Loc loc = Loc::current()) {
  return Bool(Raw{emit::compare(emit::Compare::kUgt, a.get(), b.get(), loc)});
}
inline Uniform<Bool> ugt(const Uniform<Int64>& a, const Uniform<Int64>& b, Loc loc = Loc::current()) {
  return Uniform<Bool>(Raw{emit::compare(emit::Compare::kUgt, a.get(), b.get(), loc)});
}
inline Bool uge(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Bool(Raw{emit::compare(emit::Compare::kUge, a.get(), b.get(), loc)});
}
inline Uniform<Bool> uge(const Uniform<Int32>& a, const Uniform<Int32>& b, Loc loc = Loc::current()) {
  return Uniform<Bool>(Raw{emit::compare(emit::Compare::kUge, a.get(), b.get(), loc)});
}
inline Bool uge(const Int64& a, const Int64& b, Loc loc = Loc::current()) {
  return Bool(Raw{emit::compare(emit::Compare::kUge, a.get(), b.get(), loc)});
}
inline Uniform<Bool> uge(const Uniform<Int64>& a, const Uniform<Int64>& b, Loc loc = Loc::current()) {
  return Uniform<Bool>(Raw{emit::compare(emit::Compare::kUge, a.get(), b.get(), loc)});
}
/// The upper 32 bits of the 64-bit product.
inline Int32 mul_high(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{detail::multiply_high(a.get(), b.get(), true, loc)});
}
inline Int32 umul_high(const Int32& a, const Int32& b, Loc loc = Loc::current()) {
  return Int32(Raw{detail::multiply_high(a.get(), b.get(), false, loc)});
}
/// How many bits are set.
inline Int32 bit_count(const Int32& a, Loc loc = Loc::current()) {
  return Int32(Raw{detail::unary(Op::bit_count, a.get(), detail::kShape<Int32>, loc)});
}
inline Uniform<Int32> bit_count(const Uniform<Int32>& a, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{detail::unary(Op::bit_count, a.get(), detail::kShape<Uniform<Int32>>, loc)});
}
inline Int32 bit_reverse(const Int32& a, Loc loc = Loc::current()) {
  return Int32(Raw{detail::unary(Op::bit_reverse, a.get(), detail::kShape<Int32>, loc)});
}
inline Uniform<Int32> bit_reverse(const Uniform<Int32>& a, Loc loc = Loc::current()) {
  return Uniform<Int32>(Raw{detail::unary(Op::bit_reverse, a.get(), detail::kShape<Uniform<Int32>>, loc)});
}
inline Uniform<Int32> bit_count(const Uniform<Int64>& a, Loc loc = Loc::current()) {
  llvm::Value* count = detail::unary(Op::bit_count, a.get(), {Kind::kInt64}, loc);
  return Uniform<Int32>(Raw{emit::cast(emit::Cast::kTrunc, count, {Kind::kInt32}, loc)});
}
/// Zeros above the highest set bit; 32 for 0.
Int32 leading_zeros(const Int32& a, Loc loc = Loc::current());
/// Zeros below the lowest set bit; 32 for 0.
Int32 trailing_zeros(const Int32& a, Loc loc = Loc::current());
/// Bits first .. first + width - 1 of a, zero- or sign-extended.
Int32 bit_field(const Int32& a, const Int32& first, const Int32& width, Loc loc = Loc::current());
Int32 signed_bit_field(const Int32& a, const Int32& first, const Int32& width, Loc loc = Loc::current());
/// The low 32 bits of {high, low} >> shift, shift modulo 32.
Int32 align_bits(const Int32& high, const Int32& low, const Int32& shift, Loc loc = Loc::current());
/// Byte i of the result is byte selector[i] of {high (4..7), low (0..3)}; selector bytes of 12 and more give constants.
Int32 byte_permute(const Int32& high, const Int32& low, const Int32& selector, Loc loc = Loc::current());
/// Any bitwise function of three: bit (a << 2 | b << 1 | c) of `truth_table`. gfx950.
Int32 bitop3(const Int32& a, const Int32& b, const Int32& c, int truth_table, Loc loc = Loc::current());

}  // namespace monojit::ir
