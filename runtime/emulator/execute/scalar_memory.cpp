// SMEM: scalar loads and the clocks.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/fault.h"

namespace monojit::emulator {
namespace {

/// a: base pair, b: offset register or kNoOperand, imm: immediate offset. The two low address bits are ignored.
u64 address_of(const Wave& wave, const MicroOp* op) {
  const u64 offset = op->b == kNoOperand ? 0 : const_cast<Wave&>(wave).word(op->b);
  const u64 immediate = static_cast<u64>(i64{static_cast<i32>(op->imm)});
  return (wave.pair(op->a) + offset + immediate) & ~u64{3};
}

template <u32 kWords>
void load(Wave& wave, const MicroOp* op) {
  const u64 address = address_of(wave, op);
  if (!wave.worker->reachable(address, address + kWords * 4)) [[unlikely]] {
    scalar_memory_fault(wave, op, address, kWords * 4);
  }
  u32 words[kWords];
  std::memcpy(words, reinterpret_cast<const void*>(address), sizeof words);
  std::memcpy(wave.registers + op->dst, words, sizeof words);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// a: the first of four descriptor words. Words behind num_records read as zero.
template <u32 kWords>
void buffer_load(Wave& wave, const MicroOp* op) {
  const u64 base = wave.pair(op->a) & 0xffffffffffff;
  const u64 records = wave.word(op->a + 8);
  const u64 offset = ((op->b == kNoOperand ? 0 : u64{wave.word(op->b)}) + op->imm) & ~u64{3};
  u32 words[kWords];
  for (u32 i = 0; i < kWords; ++i) {
    const u64 at = offset + 4 * i;
    words[i] = 0;
    if (at + 4 > records) continue;
    if (!wave.worker->reachable(base + at, base + at + 4)) scalar_memory_fault(wave, op, base + at, 4);
    std::memcpy(&words[i], reinterpret_cast<const void*>(base + at), 4);
  }
  std::memcpy(wave.registers + op->dst, words, sizeof words);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Virtual time; each read is one tick later than the one before, so that differences are never negative.
void read_clock(Wave& wave, const MicroOp* op) {
  Worker& worker = *wave.worker;
  ++worker.clock_reads;
  wave.set_pair(op->dst, worker.clock->fetch_add(1, std::memory_order_relaxed));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

consteval Entry memory(std::string_view mnemonic, u8 rows, Handler handler) {
  return {.mnemonic = mnemonic,
          .form = Form::kScalarMemory,
          .count = CountClass::kScalarMemory,
          .data_rows = rows,
          .handlers = {handler}};
}

constexpr Entry kEntries[] = {
    memory("s_load_dword", 1, load<1>),
    memory("s_load_dwordx2", 2, load<2>),
    memory("s_load_dwordx4", 4, load<4>),
    memory("s_load_dwordx8", 8, load<8>),
    memory("s_load_dwordx16", 16, load<16>),

    memory("s_buffer_load_dword", 1, buffer_load<1>),
    memory("s_buffer_load_dwordx2", 2, buffer_load<2>),
    memory("s_buffer_load_dwordx4", 4, buffer_load<4>),
    memory("s_buffer_load_dwordx8", 8, buffer_load<8>),
    memory("s_buffer_load_dwordx16", 16, buffer_load<16>),
    memory("s_memtime", 2, read_clock),
    memory("s_memrealtime", 2, read_clock),
};

}  // namespace

std::span<const Entry> scalar_memory_entries() { return kEntries; }

}  // namespace monojit::emulator
