#include "ir/atomic.h"

#include "ir/builder.h"

namespace monojit::ir::detail {

namespace {

llvm::AtomicRMWInst::BinOp opcode(AtomicOp operation) {
  switch (operation) {
    case AtomicOp::kExchange:
      return llvm::AtomicRMWInst::Xchg;
    case AtomicOp::kAdd:
      return llvm::AtomicRMWInst::Add;
    case AtomicOp::kSub:
      return llvm::AtomicRMWInst::Sub;
    case AtomicOp::kAnd:
      return llvm::AtomicRMWInst::And;
    case AtomicOp::kOr:
      return llvm::AtomicRMWInst::Or;
    case AtomicOp::kXor:
      return llvm::AtomicRMWInst::Xor;
    case AtomicOp::kMin:
      return llvm::AtomicRMWInst::Min;
    case AtomicOp::kMax:
      return llvm::AtomicRMWInst::Max;
    case AtomicOp::kUMin:
      return llvm::AtomicRMWInst::UMin;
    case AtomicOp::kUMax:
      return llvm::AtomicRMWInst::UMax;
    case AtomicOp::kFAdd:
      return llvm::AtomicRMWInst::FAdd;
  }
  return llvm::AtomicRMWInst::Add;
}

llvm::Value* checked(Builder& builder, llvm::Value* value, Loc loc) {
  if (value == nullptr) builder.fail("atomic", "a value is used that was never assigned", loc);
  return value;
}

}  // namespace

llvm::Value* atomic_load(llvm::Value* pointer, Shape shape, Scope scope, Order order, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  if (order == Order::kRelease || order == Order::kAcquireRelease)
    builder.fail("atomic_load", "a load can't release", loc);
  llvm::LoadInst* load =
      ir.CreateAlignedLoad(builder.type(shape), checked(builder, pointer, loc), llvm::Align(bytes_of(shape)));
  load->setAtomic(ordering(order), builder.sync_scope(static_cast<unsigned>(scope)));
  return load;
}

void atomic_store(llvm::Value* pointer, llvm::Value* value, Shape shape, Scope scope, Order order, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  if (order == Order::kAcquire || order == Order::kAcquireRelease)
    builder.fail("atomic_store", "a store can't acquire", loc);
  llvm::StoreInst* store =
      ir.CreateAlignedStore(checked(builder, value, loc), checked(builder, pointer, loc), llvm::Align(bytes_of(shape)));
  store->setAtomic(ordering(order), builder.sync_scope(static_cast<unsigned>(scope)));
}

llvm::Value* atomic_rmw(AtomicOp operation, llvm::Value* pointer, llvm::Value* value, Scope scope, Order order,
                        Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  const llvm::Align alignment(checked(builder, value, loc)->getType()->getPrimitiveSizeInBits() / 8);
  llvm::AtomicRMWInst* rmw = ir.CreateAtomicRMW(opcode(operation), checked(builder, pointer, loc), value, alignment,
                                                ordering(order), builder.sync_scope(static_cast<unsigned>(scope)));
  // Device memory of the kernel's own allocations: LLVM may use the hardware instruction instead of a compare-and-swap
  // loop.
  llvm::MDNode* yes = llvm::MDNode::get(builder.context, {});
  rmw->setMetadata("amdgpu.no.fine.grained.memory", yes);
  rmw->setMetadata("amdgpu.no.remote.memory", yes);
  if (operation == AtomicOp::kFAdd) rmw->setMetadata("amdgpu.ignore.denormal.mode", yes);
  return rmw;
}

llvm::Value* compare_exchange(llvm::Value* pointer, llvm::Value* expected, llvm::Value* desired, Scope scope,
                              Order order, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  const llvm::Align alignment(checked(builder, expected, loc)->getType()->getPrimitiveSizeInBits() / 8);
  const llvm::AtomicOrdering success = ordering(order);
  llvm::Value* both = ir.CreateAtomicCmpXchg(
      checked(builder, pointer, loc), expected, checked(builder, desired, loc), alignment, success,
      llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(success), builder.sync_scope(static_cast<unsigned>(scope)));
  return ir.CreateExtractValue(both, 0);
}

void buffer_atomic(Op op, llvm::Value* resource, llvm::Value* offset, llvm::Value* value, Shape shape,
                   const BufferAccess& access, Loc loc) {
  emit::call(op, {shape},
             {value, resource, buffer_lane_offset(offset, access, loc), buffer_scalar_offset(access),
              emit::immediate(buffer_policy(access.policy))},
             loc);
}

}  // namespace monojit::ir::detail
