#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "ir/ops.h"
#include "ir/types.h"

/// The untyped layer below the DSL's types: plain functions that emit LLVM IR through the current kernel's builder.
/// Emitters use the typed headers; these are kept out of line so that a kernel's translation unit sees no LLVM header.
namespace monojit::ir::emit {

enum class Binary : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kSDiv,
  kUDiv,
  kSRem,
  kURem,
  kAnd,
  kOr,
  kXor,
  kShl,
  kLShr,
  kAShr,
  kFAdd,
  kFSub,
  kFMul,
  kFDiv,
  kFRem,
};
enum class Compare : std::uint8_t {
  kEq,
  kNe,
  kSlt,
  kSle,
  kSgt,
  kSge,
  kUlt,
  kUle,
  kUgt,
  kUge,
  kFEq,
  kFNe,
  kFLt,
  kFLe,
  kFGt,
  kFGe,
  kFUnordered,
};
enum class Cast : std::uint8_t { kTrunc, kZExt, kSExt, kFPToSI, kFPToUI, kSIToFP, kUIToFP, kFPTrunc, kFPExt, kBitCast };

llvm::Value* constant(Shape shape, std::int64_t value, Loc loc);
llvm::Value* constant(Shape shape, double value, Loc loc);
llvm::Value* zero(Shape shape);
/// A value of no particular bits.
llvm::Value* undefined(Shape shape);

llvm::Value* binary(Binary operation, llvm::Value* a, llvm::Value* b, Loc loc);
llvm::Value* compare(Compare predicate, llvm::Value* a, llvm::Value* b, Loc loc);
llvm::Value* negate(llvm::Value* a, Loc loc);
llvm::Value* invert(llvm::Value* a, Loc loc);
llvm::Value* cast(Cast operation, llvm::Value* a, Shape to, Loc loc);
llvm::Value* select(llvm::Value* condition, llvm::Value* a, llvm::Value* b, Loc loc);

llvm::Value* splat(llvm::Value* scalar, int lanes, Loc loc);
llvm::Value* extract(llvm::Value* vector, int index, Loc loc);
llvm::Value* extract(llvm::Value* vector, llvm::Value* index, Loc loc);
llvm::Value* insert(llvm::Value* vector, llvm::Value* element, int index, Loc loc);
/// Elements `indices` of a followed by b, as llvm's shufflevector; b may be null.
llvm::Value* shuffle(llvm::Value* a, llvm::Value* b, std::span<const int> indices, Loc loc);

/// Checks that the chip has `op`, then calls its intrinsic; `overload` names the types of an overloaded one.
llvm::Value* call(Op op, std::initializer_list<llvm::Value*> operands, Loc loc);
llvm::Value* call(Op op, std::initializer_list<Shape> overload, std::initializer_list<llvm::Value*> operands, Loc loc);
/// Element `index` of an intrinsic's several results.
llvm::Value* result(llvm::Value* aggregate, unsigned index, Loc loc);
/// Throws BuildError unless the chip has `op`.
void require(Op op, Loc loc);
llvm::Value* flag(bool value);               ///< i1 constant, for immediate operands
llvm::Value* immediate(std::int64_t value);  ///< i32 constant
llvm::Value* immediate16(std::int64_t value);
llvm::Value* constant_vector(Shape shape, std::span<const std::int64_t> values);

/// An empty asm statement with side effects that passes `value` on: pins an operation to its place in the control flow.
llvm::Value* pin(llvm::Value* value, Loc loc);

llvm::Value* variable(Shape shape, Loc loc);
llvm::Value* pointer_variable(unsigned address_space, Loc loc);
llvm::Value* read_variable(llvm::Value* variable, Loc loc);
void write_variable(llvm::Value* variable, llvm::Value* value, Loc loc);

/// Pointer + index elements of `element_bytes`; a 32-bit index counts as signed.
llvm::Value* offset(llvm::Value* pointer, llvm::Value* index, unsigned element_bytes, Loc loc);
llvm::Value* pointer_to_int(llvm::Value* pointer, Loc loc);
llvm::Value* int_to_pointer(llvm::Value* address, unsigned address_space, Loc loc);
llvm::Value* to_flat(llvm::Value* pointer, Loc loc);

}  // namespace monojit::ir::emit
