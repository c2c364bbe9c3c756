#pragma once

#include <cstdint>

#include "ir/buffer.h"
#include "ir/sync.h"

namespace monojit::ir {

enum class AtomicOp : std::uint8_t { kExchange, kAdd, kSub, kAnd, kOr, kXor, kMin, kMax, kUMin, kUMax, kFAdd };

namespace detail {
llvm::Value* atomic_load(llvm::Value* pointer, Shape shape, Scope scope, Order order, Loc loc);
void atomic_store(llvm::Value* pointer, llvm::Value* value, Shape shape, Scope scope, Order order, Loc loc);
llvm::Value* atomic_rmw(AtomicOp operation, llvm::Value* pointer, llvm::Value* value, Scope scope, Order order,
                        Loc loc);
llvm::Value* compare_exchange(llvm::Value* pointer, llvm::Value* expected, llvm::Value* desired, Scope scope,
                              Order order, Loc loc);
void buffer_atomic(Op op, llvm::Value* resource, llvm::Value* offset, llvm::Value* value, Shape shape,
                   const BufferAccess& access, Loc loc);
}  // namespace detail

/// Types that atomic loads and stores work on: also bytes and halfwords.
template <class T>
concept AtomicUnit = std::derived_from<T, Value> && bytes_of(detail::kShape<T>) <= 8 && detail::Traits<T>::kLanes == 1;
/// Types that atomics work on: 32 and 64 bits.
template <class T>
concept AtomicValue =
    std::derived_from<T, Value> && (bytes_of(detail::kShape<T>) == 4 || bytes_of(detail::kShape<T>) == 8);

template <AtomicUnit T, class Space>
T atomic_load(const Ptr<T, Space>& pointer, Scope scope, Order order = Order::kRelaxed, Loc loc = Loc::current()) {
  return T(Raw{detail::atomic_load(pointer.get(), detail::kShape<T>, scope, order, loc)});
}
template <AtomicUnit T, class Space>
void atomic_store(const Ptr<T, Space>& pointer, const std::type_identity_t<T>& value, Scope scope,
                  Order order = Order::kRelaxed, Loc loc = Loc::current()) {
  detail::atomic_store(pointer.get(), value.get(), detail::kShape<T>, scope, order, loc);
}
/// Combines memory with `value`; gives what was there before.
template <AtomicOp Operation, AtomicValue T, class Space>
T atomic(const Ptr<T, Space>& pointer, const std::type_identity_t<T>& value, Scope scope, Order order = Order::kRelaxed,
         Loc loc = Loc::current()) {
  static_assert(
      (Operation == AtomicOp::kFAdd) == is_float(detail::Traits<T>::kKind) || Operation == AtomicOp::kExchange,
      "kFAdd is for floats, the others are for integers");
  return T(Raw{detail::atomic_rmw(Operation, pointer.get(), value.get(), scope, order, loc)});
}
template <AtomicValue T, class Space>
T atomic_add(const Ptr<T, Space>& pointer, const std::type_identity_t<T>& value, Scope scope,
             Order order = Order::kRelaxed, Loc loc = Loc::current()) {
  constexpr AtomicOp kOperation = is_float(detail::Traits<T>::kKind) ? AtomicOp::kFAdd : AtomicOp::kAdd;
  return atomic<kOperation>(pointer, value, scope, order, loc);
}
/// Stores `desired` if memory holds `expected`; gives what was there before.
template <AtomicValue T, class Space>
T compare_exchange(const Ptr<T, Space>& pointer, const std::type_identity_t<T>& expected,
                   const std::type_identity_t<T>& desired, Scope scope, Order order = Order::kRelaxed,
                   Loc loc = Loc::current()) {
  return T(Raw{detail::compare_exchange(pointer.get(), expected.get(), desired.get(), scope, order, loc)});
}

// Atomic additions through a buffer resource, out of range dropped, without a result.
inline void buffer_atomic_add(const BufferResource& resource, const Int32& byte_offset, const Int32& value,
                              const BufferAccess& access = {}, Loc loc = Loc::current()) {
  detail::buffer_atomic(Op::buffer_atomic_add_i32, resource.get(), byte_offset.get(), value.get(), {Kind::kInt32},
                        access, loc);
}
inline void buffer_atomic_add(const BufferResource& resource, const Int32& byte_offset, const Float32& value,
                              const BufferAccess& access = {}, Loc loc = Loc::current()) {
  detail::buffer_atomic(Op::buffer_atomic_add_f32, resource.get(), byte_offset.get(), value.get(), {Kind::kFloat32},
                        access, loc);
}
/// Two independent bf16 additions. gfx950.
inline void buffer_atomic_add(const BufferResource& resource, const Int32& byte_offset, const Vec<BFloat16, 2>& value,
                              const BufferAccess& access = {}, Loc loc = Loc::current()) {
  detail::buffer_atomic(Op::buffer_atomic_pk_add_bf16, resource.get(), byte_offset.get(), value.get(),
                        {Kind::kBFloat16, 2}, access, loc);
}

}  // namespace monojit::ir
