// SMEM: scalar atomics. One for the whole wave, whatever EXEC says.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/atomic_access.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/scalar_address.h"

namespace monojit::emulator {
namespace {

using namespace MONOJIT_HOST_ISA_NAMESPACE;  // NOLINT(google-build-using-namespace): the operations as built for every
                                             // host

/// Micro-op: dst data and result, a base or descriptor, b offset register, imm offset. A compare-and-swap has the new
/// value first.
template <class T, auto kFunction, bool kReturns, bool kCompares, bool kBuffer>
void scalar_atomic(Wave& wave, const MicroOp* op) {
  u64 address = 0;
  bool inside = true;
  if constexpr (kBuffer) {
    const ScalarBuffer buffer = scalar_buffer(wave, op);
    address = buffer.base + buffer.offset;
    inside = buffer.offset + sizeof(T) <= buffer.bytes;
  } else {
    address = scalar_address(wave, op);
  }
  T old{};
  if (inside) {
    if (address % sizeof(T) != 0 || !wave.worker->reachable(address, address + sizeof(T)))
      scalar_memory_fault(wave, op, AccessKind::kAtomic, address, sizeof(T));
    wave.last_load = address;
    T* const memory = reinterpret_cast<T*>(address);
    T data[2];
    std::memcpy(data, wave.registers + op->dst, sizeof(T) * (kCompares ? 2 : 1));
    old = __atomic_load_n(memory, __ATOMIC_RELAXED);
    T next;
    do {
      if constexpr (kCompares) {
        next = kFunction(old, data[0], data[1]);
      } else {
        next = kFunction(old, data[0]);
      }
    } while (!__atomic_compare_exchange_n(memory, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    wave.worker->memory_writes += next != old ? 1 : 0;
    MovedBytes& moved = wave.worker->bytes;
    moved.stored[static_cast<u32>(wave.worker->space)] += sizeof(T);
    if (kReturns) moved.loaded[static_cast<u32>(wave.worker->space)] += sizeof(T);
  }
  if constexpr (kReturns) std::memcpy(wave.registers + op->dst, &old, sizeof old);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

template <class T, auto kFunction, bool kBuffer, bool kCompares = false>
consteval Entry atomic(std::string_view mnemonic) {
  return {.mnemonic = mnemonic,
          .form = Form::kScalarMemory,
          .flags = kReturns,
          .count = CountClass::kScalarMemory,
          .data_rows = static_cast<u8>(sizeof(T) / 4 * (kCompares ? 2 : 1)),
          .handlers = {scalar_atomic<T, kFunction, false, kCompares, kBuffer>,
                       scalar_atomic<T, kFunction, true, kCompares, kBuffer>}};
}

#define MONOJIT_SCALAR_ATOMICS(prefix, suffix, buffer, u, s)                               \
  atomic<u, AtomicOperations<u>::kSwap, buffer>(prefix "swap" suffix),                     \
      atomic<u, AtomicOperations<u>::kCompareSwap, buffer, true>(prefix "cmpswap" suffix), \
      atomic<u, AtomicOperations<u>::kAdd, buffer>(prefix "add" suffix),                   \
      atomic<u, AtomicOperations<u>::kSub, buffer>(prefix "sub" suffix),                   \
      atomic<s, AtomicOperations<s>::kMin, buffer>(prefix "smin" suffix),                  \
      atomic<u, AtomicOperations<u>::kMin, buffer>(prefix "umin" suffix),                  \
      atomic<s, AtomicOperations<s>::kMax, buffer>(prefix "smax" suffix),                  \
      atomic<u, AtomicOperations<u>::kMax, buffer>(prefix "umax" suffix),                  \
      atomic<u, AtomicOperations<u>::kAnd, buffer>(prefix "and" suffix),                   \
      atomic<u, AtomicOperations<u>::kOr, buffer>(prefix "or" suffix),                     \
      atomic<u, AtomicOperations<u>::kXor, buffer>(prefix "xor" suffix),                   \
      atomic<u, AtomicOperations<u>::kIncrement, buffer>(prefix "inc" suffix),             \
      atomic<u, AtomicOperations<u>::kDecrement, buffer>(prefix "dec" suffix)

constexpr Entry kEntries[] = {
    MONOJIT_SCALAR_ATOMICS("s_atomic_", "", false, u32, i32),
    MONOJIT_SCALAR_ATOMICS("s_atomic_", "_x2", false, u64, i64),
    MONOJIT_SCALAR_ATOMICS("s_buffer_atomic_", "", true, u32, i32),
    MONOJIT_SCALAR_ATOMICS("s_buffer_atomic_", "_x2", true, u64, i64),
};

#undef MONOJIT_SCALAR_ATOMICS

}  // namespace

std::span<const Entry> scalar_atomic_entries() { return kEntries; }

}  // namespace monojit::emulator
