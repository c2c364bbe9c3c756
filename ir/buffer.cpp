#include "ir/buffer.h"

#include <fmt/format.h>

#include "ir/builder.h"

namespace monojit::ir {

namespace {

// The instruction's cache policy operand: bit 0 sc0, bit 1 nt, bit 4 sc1.
constexpr std::int64_t kSc0 = 1;
constexpr std::int64_t kNt = 2;
constexpr std::int64_t kSc1 = 16;

}  // namespace

namespace detail {
std::int64_t buffer_policy(CachePolicy policy) {
  switch (policy) {
    case CachePolicy::kDefault:
      return 0;
    case CachePolicy::kDevice:
      return kSc1;
    case CachePolicy::kSystem:
      return kSc0 | kSc1;
    case CachePolicy::kNonTemporal:
      return kNt;
  }
  return 0;
}

llvm::Value* buffer_scalar_offset(const BufferAccess& access) {
  return access.scalar_offset.get() != nullptr ? access.scalar_offset.get() : emit::immediate(0);
}

llvm::Value* buffer_lane_offset(llvm::Value* offset, const BufferAccess& access, Loc loc) {
  if (access.offset == 0) return offset;
  // LLVM folds an added constant of 0..4095 into the instruction.
  return emit::binary(emit::Binary::kAdd, offset, emit::immediate(access.offset), loc);
}

}  // namespace detail

namespace {

/// Data travel as dwords where there are any, whatever their type: LLVM then never splits an access by elements.
Shape transfer_shape(Shape shape) {
  const unsigned bytes = bytes_of(shape);
  if (bytes == 1) return {Kind::kInt8};
  if (bytes == 2) return {Kind::kInt16};
  return {Kind::kInt32, static_cast<int>(bytes / 4)};
}

Op sized(unsigned bytes, Op b8, Op b16, Op b32, Op b64, Op b96, Op b128, const char* operation, Loc loc) {
  switch (bytes) {
    case 1:
      return b8;
    case 2:
      return b16;
    case 4:
      return b32;
    case 8:
      return b64;
    case 12:
      return b96;
    case 16:
      return b128;
    default:
      break;
  }
  Builder::current(loc).fail(operation, fmt::format("{} bytes a lane: it has to be 1, 2, 4, 8, 12 or 16", bytes), loc);
}

}  // namespace

llvm::Value* BufferResource::make(llvm::Value* base, llvm::Value* bytes, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  if (base == nullptr || bytes == nullptr)
    builder.fail("BufferResource", "a value is used that was never assigned", loc);
  llvm::Function* function = builder.declaration(Op::make_buffer, {ir.getPtrTy(8), ir.getPtrTy(Global::kNumber)});
  return ir.CreateCall(function, {base, ir.getInt16(0), bytes, ir.getInt32(kBufferFlags)});
}

namespace detail {

llvm::Value* buffer_load(llvm::Value* resource, llvm::Value* offset, Shape shape, const BufferAccess& access, Loc loc) {
  const Op op = access.repeat ? Op::buffer_poll
                              : sized(bytes_of(shape), Op::buffer_load_b8, Op::buffer_load_b16, Op::buffer_load_b32,
                                      Op::buffer_load_b64, Op::buffer_load_b96, Op::buffer_load_b128, "load", loc);
  const Shape transfer = transfer_shape(shape);
  llvm::Value* value = emit::call(op, {transfer},
                                  {resource, buffer_lane_offset(offset, access, loc), buffer_scalar_offset(access),
                                   emit::immediate(buffer_policy(access.policy))},
                                  loc);
  return emit::cast(emit::Cast::kBitCast, value, shape, loc);
}

void buffer_store(llvm::Value* resource, llvm::Value* offset, llvm::Value* value, Shape shape,
                  const BufferAccess& access, Loc loc) {
  const Op op = sized(bytes_of(shape), Op::buffer_store_b8, Op::buffer_store_b16, Op::buffer_store_b32,
                      Op::buffer_store_b64, Op::buffer_store_b96, Op::buffer_store_b128, "store", loc);
  const Shape transfer = transfer_shape(shape);
  emit::call(op, {transfer},
             {emit::cast(emit::Cast::kBitCast, value, transfer, loc), resource, buffer_lane_offset(offset, access, loc),
              buffer_scalar_offset(access), emit::immediate(buffer_policy(access.policy))},
             loc);
}

void buffer_load_to_lds(llvm::Value* resource, llvm::Value* offset, llvm::Value* destination, int bytes,
                        const BufferAccess& access, Loc loc) {
  const Builder& builder = Builder::current(loc);
  Op op = Op::buffer_load_lds_b32;
  switch (bytes) {
    case 1:
      op = Op::buffer_load_lds_b8;
      break;
    case 2:
      op = Op::buffer_load_lds_b16;
      break;
    case 4:
      break;
    case 12:
      op = Op::buffer_load_lds_b96;
      break;
    case 16:
      op = Op::buffer_load_lds_b128;
      break;
    default:
      builder.fail("load_to_lds", fmt::format("{} bytes a lane: it has to be 1, 2, 4, 12 or 16", bytes), loc);
  }
  emit::call(op,
             {resource, destination, emit::immediate(bytes), offset, buffer_scalar_offset(access),
              emit::immediate(access.offset), emit::immediate(buffer_policy(access.policy))},
             loc);
}

void global_load_to_lds(llvm::Value* source, llvm::Value* destination, int bytes, CachePolicy policy, Loc loc) {
  const Builder& builder = Builder::current(loc);
  Op op = Op::global_load_lds_b32;
  switch (bytes) {
    case 4:
      break;
    case 12:
      op = Op::global_load_lds_b96;
      break;
    case 16:
      op = Op::global_load_lds_b128;
      break;
    default:
      builder.fail("load_to_lds", fmt::format("{} bytes a lane: it has to be 4, 12 or 16", bytes), loc);
  }
  emit::call(op,
             {source, destination, emit::immediate(bytes), emit::immediate(0), emit::immediate(buffer_policy(policy))},
             loc);
}

}  // namespace detail
}  // namespace monojit::ir
