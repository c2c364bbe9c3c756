#include "ir/mx.h"

#include "ir/builder.h"

namespace monojit::ir {

namespace {
constexpr Shape kI32 = {Kind::kInt32};
constexpr Shape kWords = {Kind::kInt16, 2};

/// The 8-bit forms take and give their dword as two words.
llvm::Value* as_words(llvm::Value* dword, Loc loc) { return emit::cast(emit::Cast::kBitCast, dword, kWords, loc); }
llvm::Value* as_dword(llvm::Value* words, Loc loc) { return emit::cast(emit::Cast::kBitCast, words, kI32, loc); }
}  // namespace

namespace detail {

llvm::Value* mx_narrow_half(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* scale, llvm::Value* old, bool high,
                            Loc loc) {
  return as_dword(emit::call(op, {as_words(old, loc), a, b, scale, emit::flag(high)}, loc), loc);
}

llvm::Value* mx_narrow_half_bf16(Op op, llvm::Value* pair, llvm::Value* scale, llvm::Value* old, bool high, Loc loc) {
  return as_dword(emit::call(op, {as_words(old, loc), pair, scale, emit::flag(high)}, loc), loc);
}

llvm::Value* mx_widen_half(Op op, llvm::Value* packed, llvm::Value* scale, bool high, Loc loc) {
  return emit::call(op, {packed, scale, emit::flag(high)}, loc);
}

llvm::Value* mx_widen_byte(Op op, llvm::Value* packed, llvm::Value* scale, int byte, Loc loc) {
  return emit::call(op, {packed, scale, emit::immediate(byte)}, loc);
}

llvm::Value* mx_narrow_byte(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* scale, llvm::Value* old, int byte,
                            Loc loc) {
  return emit::call(op, {old, a, b, scale, emit::immediate(byte)}, loc);
}

llvm::Value* mx_narrow_byte_pair(Op op, llvm::Value* pair, llvm::Value* scale, llvm::Value* old, int byte, Loc loc) {
  return emit::call(op, {old, pair, scale, emit::immediate(byte)}, loc);
}

llvm::Value* mx_narrow_random(Op op, llvm::Value* pair, llvm::Value* seed, llvm::Value* scale, llvm::Value* old,
                              int byte, Loc loc) {
  return emit::call(op, {old, pair, seed, scale, emit::immediate(byte)}, loc);
}

}  // namespace detail

Int32 random_bits(const Int32& state, Loc loc) { return Int32(Raw{emit::call(Op::random_bits, {state.get()}, loc)}); }

}  // namespace monojit::ir
