// The end of a memory handler in an observed program: lanes whose addresses are known to be good, handed to the memory
// model.
#pragma once

#include "runtime/emulator/execute/lane_memory.h"
#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/memory/memory_model.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

/// Where each lane's data stand in a request.
struct SlotOffsets {
  alignas(64) u32 at[kLanes];
  constexpr SlotOffsets() : at{} {
    for (u32 i = 0; i < kLanes; ++i) at[i] = i * kLaneSlot;
  }
};
inline constexpr SlotOffsets kSlots;

/// sc0 of an atomic asks for the old value and says nothing about scope.
template <class Access>
MONOJIT_EMULATOR_INLINE CachePolicy policy_of(const MicroOp* op) {
  const bool non_temporal = (op->aux & kNonTemporal) != 0;
  if (Access::kKind == AccessKind::kAtomic) {
    return {.scope = (op->aux & kScope1) != 0 ? Scope::kSystem : Scope::kDevice, .non_temporal = non_temporal};
  }
  return {.scope = static_cast<Scope>(op->aux >> kScopeShift & 3), .non_temporal = non_temporal};
}

template <class Access>
void deliver_to_registers(Wave& wave, const MemoryRequest& request) {
  u32* const rows = wave.row(request.op->dst);
  move_lanes<Access>(rows, nullptr, const_cast<u8*>(request.data), kSlots.at, request.lanes);
}

/// Whole words of each lane to LDS, kStride apart.
template <class Access, u32 kStride>
void deliver_to_lds(Wave& wave, const MemoryRequest& request) {
  constexpr u32 kWords = (Access::kBytes + 3) / 4;
  alignas(64) u32 moved[kWords * kLanes];
  move_lanes<Access>(moved, nullptr, const_cast<u8*>(request.data), kSlots.at, request.lanes);
  for (u64 lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    for (u32 i = 0; i < kWords; ++i)
      store_as(wave.lds + request.lds_base + lane * kStride + 4 * i, moved[kLanes * i + lane]);
  }
}

/// A request without addresses yet.
template <class Access>
MONOJIT_EMULATOR_INLINE MemoryRequest& new_request(Wave& wave, const MicroOp* op) {
  MemoryRequest& request = *wave.worker->request;
  request.op = op;
  request.lanes = 0;
  request.bytes = Access::kBytes;
  request.partial = false;
  request.policy = policy_of<Access>(op);
  return request;
}

/// For vector memory operations that do not reach the model: vmcnt counts them all the same.
MONOJIT_EMULATOR_INLINE bool count_operation(Wave& wave) {
  ++static_cast<WaveMemoryState*>(wave.memory_state)->issued;
  return false;
}

/// Hands a request with its addresses to the model; `data` are the rows that stores and atomics bring. True: the wave
/// should let others run.
template <class Access>
[[gnu::noinline]] bool submit(Wave& wave, const MicroOp* op, const u32* data) {
  std::unique_ptr<MemoryRequest>& request = wave.worker->request;
  if (request->lanes == 0) return count_operation(wave);
  MemoryModel& model = *wave.worker->model;
  if constexpr (Access::kKind == AccessKind::kLoad) {
    if (request->partial) std::memset(request->data, 0, sizeof request->data);
    request->deliver = deliver_to_registers<Access>;
    return model.load(wave, request);
  } else if constexpr (Access::kKind == AccessKind::kStore) {
    ++wave.worker->memory_writes;
    move_lanes<Access>(nullptr, data, request->data, kSlots.at, request->lanes);
    return model.store(wave, request);
  } else {
    u32* const result = op->dst == kNoOperand ? nullptr : wave.row(op->dst);
    bool wrote = false;
    for (u64 lanes = request->lanes; lanes != 0; lanes &= lanes - 1) {
      const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
      wrote |= Access::move(result, data, lane, model.atomic_place(wave, *request, lane));
    }
    wave.worker->memory_writes += wrote ? 1 : 0;
    return model.finish_atomics(wave, *request);
  }
}

/// The same for a load to LDS.
template <class Access, u32 kStride>
[[gnu::noinline]] bool submit_to_lds(Wave& wave, u32 lds_base) {
  std::unique_ptr<MemoryRequest>& request = wave.worker->request;
  if (request->lanes == 0) return count_operation(wave);
  if (request->partial) std::memset(request->data, 0, sizeof request->data);
  request->lds_base = lds_base;
  request->deliver = deliver_to_lds<Access, kStride>;
  return wave.worker->model->load(wave, request);
}

/// Whether a load whose addresses were just found reachable may go past the model.
template <class Access>
MONOJIT_EMULATOR_INLINE bool skips_model(const Wave& wave) {
  return Access::kKind == AccessKind::kLoad && wave.worker->last_hit.skippable() && wave.worker->skips_unwritten &&
         static_cast<const WaveMemoryState*>(wave.memory_state)->undelivered == 0;
}

/// All active lanes at base + offset, in one allocation.
template <class Access>
MONOJIT_EMULATOR_INLINE bool observe_range(Wave& wave, const MicroOp* op, u32* result, const u32* data, u64 base,
                                           const u32* offsets, u64 exec) {
  if (skips_model<Access>(wave)) {
    move_lanes<Access>(result, data, reinterpret_cast<u8*>(base), offsets, exec);
    return count_operation(wave);
  }
  MemoryRequest& request = new_request<Access>(wave, op);
  request.lanes = exec;
  for (u32 i = 0; i < kLanes; ++i) request.addresses[i] = base + offsets[i];
  return submit<Access>(wave, op, data);
}

/// Adds one lane to a request, `bytes` of it.
MONOJIT_EMULATOR_INLINE void add_lane(MemoryRequest& request, u32 lane, u64 address, u32 bytes) {
  request.addresses[lane] = address;
  request.lanes |= u64{1} << lane;
  request.lengths[lane] = static_cast<u8>(bytes);
  if (bytes != request.bytes) request.partial = true;
}

/// Ends an observed handler.
#define MONOJIT_EMULATOR_NEXT_UNLESS(preempted, wave, op)                 \
  if (preempted) return yield_after((wave), (op), WaveState::kPreempted); \
  MONOJIT_EMULATOR_NEXT(wave, op)

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
