// SMEM: scalar loads and the clocks.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/fault.h"
#include "runtime/emulator/memory/memory_model.h"

namespace monojit::emulator {
namespace {

/// a: base pair, b: offset register or kNoOperand, imm: immediate offset. The two low address bits are ignored.
u64 address_of(const Wave& wave, const MicroOp* op) {
  const u64 offset = op->b == kNoOperand ? 0 : const_cast<Wave&>(wave).word(op->b);
  const u64 immediate = static_cast<u64>(i64{static_cast<i32>(op->imm)});
  return (wave.pair(op->a) + offset + immediate) & ~u64{3};
}

/// From memory that was just found reachable.
template <bool kObserved>
[[gnu::always_inline]] inline void fetch(Wave& wave, const MicroOp* op, u64 address, u32* words, u32 bytes) {
  if (kObserved && !(wave.worker->skips_unwritten && wave.worker->last_hit.skippable())) {
    wave.worker->model->scalar_load(wave, op, address, bytes, words);
  } else {
    std::memcpy(words, reinterpret_cast<const void*>(address), bytes);
  }
}

template <u32 kWords, bool kObserved>
void load(Wave& wave, const MicroOp* op) {
  const u64 address = address_of(wave, op);
  if (!wave.worker->reachable(address, address + kWords * 4)) [[unlikely]] {
    scalar_memory_fault(wave, op, address, kWords * 4);
  }
  fetch<kObserved>(wave, op, address, &wave.word(op->dst), kWords * 4);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// a: the first of four descriptor words. Words behind num_records read as zero.
template <u32 kWords, bool kObserved>
void buffer_load(Wave& wave, const MicroOp* op) {
  const u64 base = wave.pair(op->a) & 0xffffffffffff;
  const u64 records = wave.word(op->a + 8);
  const u64 offset = ((op->b == kNoOperand ? 0 : u64{wave.word(op->b)}) + op->imm) & ~u64{3};
  for (u32 i = 0; i < kWords; ++i) {
    const u64 at = offset + 4 * i;
    u32& word = wave.word(op->dst + 4 * i);
    word = 0;
    if (at + 4 > records) continue;
    if (!wave.worker->reachable(base + at, base + at + 4)) scalar_memory_fault(wave, op, base + at, 4);
    fetch<kObserved>(wave, op, base + at, &word, 4);
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

consteval Entry memory(std::string_view mnemonic, u8 rows, Handler handler, Handler observed) {
  return {.mnemonic = mnemonic,
          .form = Form::kScalarMemory,
          .count = CountClass::kScalarMemory,
          .data_rows = rows,
          .handlers = {handler, nullptr, nullptr, nullptr, observed}};
}

constexpr Entry kEntries[] = {
    memory("s_load_dword", 1, load<1, false>, load<1, true>),
    memory("s_load_dwordx2", 2, load<2, false>, load<2, true>),
    memory("s_load_dwordx4", 4, load<4, false>, load<4, true>),
    memory("s_load_dwordx8", 8, load<8, false>, load<8, true>),
    memory("s_load_dwordx16", 16, load<16, false>, load<16, true>),

    memory("s_buffer_load_dword", 1, buffer_load<1, false>, buffer_load<1, true>),
    memory("s_buffer_load_dwordx2", 2, buffer_load<2, false>, buffer_load<2, true>),
    memory("s_buffer_load_dwordx4", 4, buffer_load<4, false>, buffer_load<4, true>),
    memory("s_buffer_load_dwordx8", 8, buffer_load<8, false>, buffer_load<8, true>),
    memory("s_buffer_load_dwordx16", 16, buffer_load<16, false>, buffer_load<16, true>),
    memory("s_memtime", 2, read_clock, read_clock),
    memory("s_memrealtime", 2, read_clock, read_clock),
};

}  // namespace

std::span<const Entry> scalar_memory_entries() { return kEntries; }

}  // namespace monojit::emulator
