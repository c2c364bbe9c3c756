#include "ir/memory.h"

#include <llvm/IR/Metadata.h>

#include "ir/builder.h"

namespace monojit::ir::detail {

namespace {
constexpr unsigned kLargestAlignment = 16;

llvm::Align alignment_of(Shape shape, const Access& access) {
  if (access.alignment != 0) return llvm::Align(access.alignment);
  unsigned alignment = 1;
  while (alignment < bytes_of(shape) && alignment < kLargestAlignment) alignment *= 2;
  // Three dwords are only as aligned as one.
  return llvm::Align(bytes_of(shape) % alignment == 0 ? alignment : bytes_of(shape.kind));
}

template <class Instruction>
void mark(Instruction* instruction, const Access& access, Builder& builder) {
  instruction->setVolatile(access.repeat);
  if (!access.nontemporal) return;
  auto* one = llvm::ConstantAsMetadata::get(builder.ir().getInt32(1));
  instruction->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(builder.context, one));
}

llvm::Value* checked(Builder& builder, llvm::Value* value, const char* operation, Loc loc) {
  if (value == nullptr) builder.fail(operation, "a value is used that was never assigned", loc);
  return value;
}
}  // namespace

llvm::Value* load(llvm::Value* pointer, Shape shape, Access access, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  llvm::LoadInst* value =
      ir.CreateAlignedLoad(builder.type(shape), checked(builder, pointer, "load", loc), alignment_of(shape, access));
  mark(value, access, builder);
  return value;
}

void store(llvm::Value* pointer, llvm::Value* value, Shape shape, Access access, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  llvm::StoreInst* instruction = ir.CreateAlignedStore(
      checked(builder, value, "store", loc), checked(builder, pointer, "store", loc), alignment_of(shape, access));
  mark(instruction, access, builder);
}

llvm::Value* load_transposed(Op op, llvm::Value* pointer, Shape shape, Loc loc) {
  return emit::call(op, {shape}, {pointer}, loc);
}

}  // namespace monojit::ir::detail
