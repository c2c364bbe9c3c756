// SMEM: scalar loads and stores, and the clocks.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/scalar_address.h"
#include "runtime/emulator/memory/memory_model.h"

namespace monojit::emulator {
namespace {

/// A load of what was just found reachable is on its way: what a waiting wave looks at. Nobody waits for arguments and
/// constants.
[[gnu::always_inline]] inline void note_load(Wave& wave, u64 address) {
  if (wave.worker->space != MemorySpace::kUncounted) wave.last_load = address;
}

/// From memory that was just found reachable.
template <bool kObserved>
[[gnu::always_inline]] inline void fetch(Wave& wave, const MicroOp* op, u64 address, u32* words, u32 bytes) {
  wave.worker->bytes.loaded[static_cast<u32>(wave.worker->space)] += bytes;
  if (kObserved && !(wave.worker->skips_unwritten && wave.worker->last_hit.skippable())) {
    wave.worker->model->scalar_load(wave, op, address, bytes, words);
  } else {
    std::memcpy(words, reinterpret_cast<const void*>(address), bytes);
  }
}

/// kUnit: bytes that one step of the offset register means (64 for s_scratch_*).
template <u32 kWords, u32 kUnit, bool kObserved>
void load(Wave& wave, const MicroOp* op) {
  const u64 address = scalar_address<kUnit>(wave, op);
  if (!wave.worker->reachable(address, address + kWords * 4)) [[unlikely]] {
    scalar_memory_fault(wave, op, AccessKind::kLoad, address, kWords * 4);
  }
  note_load(wave, address);
  fetch<kObserved>(wave, op, address, &wave.word(op->dst), kWords * 4);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// To memory that was just found reachable, from registers at an offset.
[[gnu::always_inline]] inline void put(Wave& wave, u64 address, u32 registers, u32 bytes) {
  ++wave.worker->memory_writes;
  wave.worker->bytes.stored[static_cast<u32>(wave.worker->space)] += bytes;
  std::memcpy(reinterpret_cast<void*>(address), wave.registers + registers, bytes);
}

template <u32 kWords, u32 kUnit>
void store(Wave& wave, const MicroOp* op) {
  const u64 address = scalar_address<kUnit>(wave, op);
  if (!wave.worker->reachable(address, address + kWords * 4)) [[unlikely]] {
    scalar_memory_fault(wave, op, AccessKind::kStore, address, kWords * 4);
  }
  put(wave, address, op->dst, kWords * 4);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Words behind num_records read as zero.
template <u32 kWords, bool kObserved>
void buffer_load(Wave& wave, const MicroOp* op) {
  const ScalarBuffer buffer = scalar_buffer(wave, op);
  for (u32 i = 0; i < kWords; ++i) {
    const u64 at = buffer.offset + 4 * i, address = buffer.base + at;
    u32& word = wave.word(op->dst + 4 * i);
    word = 0;
    if (at + 4 > buffer.bytes) continue;
    if (!wave.worker->reachable(address, address + 4)) scalar_memory_fault(wave, op, AccessKind::kLoad, address, 4);
    if (i == 0) note_load(wave, address);
    fetch<kObserved>(wave, op, address, &word, 4);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Words behind num_records are dropped.
template <u32 kWords>
void buffer_store(Wave& wave, const MicroOp* op) {
  const ScalarBuffer buffer = scalar_buffer(wave, op);
  for (u32 i = 0; i < kWords; ++i) {
    const u64 at = buffer.offset + 4 * i, address = buffer.base + at;
    if (at + 4 > buffer.bytes) continue;
    if (!wave.worker->reachable(address, address + 4)) scalar_memory_fault(wave, op, AccessKind::kStore, address, 4);
    put(wave, address, op->dst + 4 * i, 4);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Virtual time; each read is one tick later than the one before, so that differences are never negative.
void read_clock(Wave& wave, const MicroOp* op) {
  Worker& worker = *wave.worker;
  ++worker.clock_reads;
  wave.set_pair(op->dst, worker.clock->fetch_add(1, std::memory_order_relaxed));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Stores have no observed form: where the scalar cache stands among the others when it is written is not modelled.
consteval Entry memory(std::string_view mnemonic, u8 rows, Handler handler, Handler observed = nullptr) {
  return {.mnemonic = mnemonic,
          .form = Form::kScalarMemory,
          .count = CountClass::kScalarMemory,
          .data_rows = rows,
          .handlers = {handler, nullptr, nullptr, nullptr, observed}};
}

constexpr u32 kScratchUnit = 64;

constexpr Entry kEntries[] = {
    memory("s_load_dword", 1, load<1, 1, false>, load<1, 1, true>),
    memory("s_load_dwordx2", 2, load<2, 1, false>, load<2, 1, true>),
    memory("s_load_dwordx4", 4, load<4, 1, false>, load<4, 1, true>),
    memory("s_load_dwordx8", 8, load<8, 1, false>, load<8, 1, true>),
    memory("s_load_dwordx16", 16, load<16, 1, false>, load<16, 1, true>),
    memory("s_buffer_load_dword", 1, buffer_load<1, false>, buffer_load<1, true>),
    memory("s_buffer_load_dwordx2", 2, buffer_load<2, false>, buffer_load<2, true>),
    memory("s_buffer_load_dwordx4", 4, buffer_load<4, false>, buffer_load<4, true>),
    memory("s_buffer_load_dwordx8", 8, buffer_load<8, false>, buffer_load<8, true>),
    memory("s_buffer_load_dwordx16", 16, buffer_load<16, false>, buffer_load<16, true>),
    memory("s_store_dword", 1, store<1, 1>),
    memory("s_store_dwordx2", 2, store<2, 1>),
    memory("s_store_dwordx4", 4, store<4, 1>),
    memory("s_buffer_store_dword", 1, buffer_store<1>),
    memory("s_buffer_store_dwordx2", 2, buffer_store<2>),
    memory("s_buffer_store_dwordx4", 4, buffer_store<4>),
    memory("s_scratch_load_dword", 1, load<1, kScratchUnit, false>, load<1, kScratchUnit, true>),
    memory("s_scratch_load_dwordx2", 2, load<2, kScratchUnit, false>, load<2, kScratchUnit, true>),
    memory("s_scratch_load_dwordx4", 4, load<4, kScratchUnit, false>, load<4, kScratchUnit, true>),
    memory("s_scratch_store_dword", 1, store<1, kScratchUnit>),
    memory("s_scratch_store_dwordx2", 2, store<2, kScratchUnit>),
    memory("s_scratch_store_dwordx4", 4, store<4, kScratchUnit>),
    memory("s_memtime", 2, read_clock, read_clock),
    memory("s_memrealtime", 2, read_clock, read_clock),
};

}  // namespace

std::span<const Entry> scalar_memory_entries() { return kEntries; }

}  // namespace monojit::emulator
