#include "ir/math.h"

#include "ir/builder.h"
#include "ir/convert.h"

namespace monojit::ir {

namespace detail {

llvm::Value* unary(Op op, llvm::Value* a, Shape shape, Loc loc) { return emit::call(op, {shape}, {a}, loc); }

llvm::Value* binary(Op op, llvm::Value* a, llvm::Value* b, Shape shape, Loc loc) {
  return emit::call(op, {shape}, {a, b}, loc);
}

llvm::Value* ternary(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* c, Shape shape, Loc loc) {
  return emit::call(op, {shape}, {a, b, c}, loc);
}

llvm::Value* multiply_high(llvm::Value* a, llvm::Value* b, bool is_signed, Loc loc) {
  constexpr Shape kWide = {Kind::kInt64};
  const emit::Cast widen = is_signed ? emit::Cast::kSExt : emit::Cast::kZExt;
  llvm::Value* product =
      emit::binary(emit::Binary::kMul, emit::cast(widen, a, kWide, loc), emit::cast(widen, b, kWide, loc), loc);
  llvm::Value* high = emit::binary(emit::Binary::kLShr, product, emit::constant(kWide, std::int64_t{32}, loc), loc);
  return emit::cast(emit::Cast::kTrunc, high, {Kind::kInt32}, loc);
}

}  // namespace detail

namespace {
constexpr Shape kI32 = {Kind::kInt32};
constexpr Shape kF32 = {Kind::kFloat32};
}  // namespace

Float32 ldexp(const Float32& a, const Int32& exponent, Loc loc) {
  return Float32(Raw{emit::call(Op::ldexp_f32, {kF32, kI32}, {a.get(), exponent.get()}, loc)});
}

Int32 frexp_exponent(const Float32& a, Loc loc) {
  return Int32(Raw{emit::call(Op::frexp_exponent, {kI32, kF32}, {a.get()}, loc)});
}

Bool is_nan(const Float32& a, Loc loc) {
  return Bool(Raw{emit::compare(emit::Compare::kFUnordered, a.get(), a.get(), loc)});
}

Float32 dot2(const Vec<BFloat16, 2>& a, const Vec<BFloat16, 2>& b, const Float32& c, Loc loc) {
  return Float32(Raw{emit::call(Op::dot2_bf16, {a.get(), b.get(), c.get(), emit::flag(false)}, loc)});
}

Int32 dot4(const Int32& a, const Int32& b, const Int32& c, Loc loc) {
  return Int32(Raw{emit::call(Op::dot4_i8, {a.get(), b.get(), c.get(), emit::flag(false)}, loc)});
}

Int32 leading_zeros(const Int32& a, Loc loc) {
  return Int32(Raw{emit::call(Op::leading_zeros, {kI32}, {a.get(), emit::flag(false)}, loc)});
}

Int32 trailing_zeros(const Int32& a, Loc loc) {
  return Int32(Raw{emit::call(Op::trailing_zeros, {kI32}, {a.get(), emit::flag(false)}, loc)});
}

Int32 bit_field(const Int32& a, const Int32& first, const Int32& width, Loc loc) {
  return Int32(Raw{emit::call(Op::bit_field, {kI32}, {a.get(), first.get(), width.get()}, loc)});
}

Int32 signed_bit_field(const Int32& a, const Int32& first, const Int32& width, Loc loc) {
  return Int32(Raw{emit::call(Op::signed_bit_field, {kI32}, {a.get(), first.get(), width.get()}, loc)});
}

Int32 align_bits(const Int32& high, const Int32& low, const Int32& shift, Loc loc) {
  return Int32(Raw{emit::call(Op::align_bits, {kI32}, {high.get(), low.get(), shift.get()}, loc)});
}

Int32 byte_permute(const Int32& high, const Int32& low, const Int32& selector, Loc loc) {
  return Int32(Raw{emit::call(Op::byte_permute, {high.get(), low.get(), selector.get()}, loc)});
}

Int32 bitop3(const Int32& a, const Int32& b, const Int32& c, int truth_table, Loc loc) {
  return Int32(Raw{emit::call(Op::bitop3, {kI32}, {a.get(), b.get(), c.get(), emit::immediate(truth_table)}, loc)});
}

}  // namespace monojit::ir
