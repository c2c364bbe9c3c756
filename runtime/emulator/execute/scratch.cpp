// SCRATCH: a lane's private memory. The address is scalar + vector + immediate inside it.
#include <fmt/format.h>

#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lane_memory.h"
#include "runtime/emulator/execute/observed_memory.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// Puts the lanes' offsets into a staging row: the result may overlap the address register.
/// op: a offset row or kNoOperand, b scalar or kNoOperand, imm signed offset.
MONOJIT_EMULATOR_INLINE const u32* stage_private_offsets(Wave& wave, const MicroOp* op) {
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  const u32 common = (op->b == kNoOperand ? 0 : wave.word(op->b)) + op->imm;
  for (u32 i = 0; i < kLanes; ++i) offsets[i] = common + (op->a == kNoOperand ? 0 : wave.row(op->a)[i]);
  return offsets;
}

MONOJIT_EMULATOR_INLINE u8* private_memory(Wave& wave, const MicroOp* op, u32 lane, u32 offset, u32 bytes) {
  if (u64{offset} + bytes > wave.scratch_lane_bytes) scratch_fault(wave, op, lane, offset, bytes);
  const u32 alignment = bytes < 4 ? bytes : 4;
  if (wave.worker->strict_alignment && offset % alignment != 0)
    wave_fault(FailureKind::kIllegalAddress, op,
               fmt::format("misaligned scratch access of {} bytes at {:#x} by lane {}: the address must be a multiple "
                           "of {}",
                           bytes, offset, lane, alignment));
  return wave.scratch + u64{lane} * wave.scratch_lane_bytes + offset;
}

/// dst result or kNoOperand, c data rows or kNoOperand.
template <class Access, bool kObserved>
void scratch_handler(Wave& wave, const MicroOp* op) {
  if constexpr (kObserved) count_operation(wave);
  const u32* const offsets = stage_private_offsets(wave, op);
  u32* const result = op->dst == kNoOperand ? nullptr : wave.row(op->dst);
  const u32* const data = op->c == kNoOperand ? nullptr : wave.row(op->c);
  bool wrote = false;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    wrote |= move_lane<Access>(result, data, lane, private_memory(wave, op, lane, offsets[lane], Access::kBytes));
  }
  wave.worker->memory_writes += wrote ? 1 : 0;
  count_lanes<Access>(*wave.worker, MemorySpace::kScratch, wave.exec());
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// scratch_load_lds_*: LDS address = M0[17:2]*4 + offset + lane * 4.
template <class Access, bool kObserved>
void scratch_to_lds(Wave& wave, const MicroOp* op) {
  if constexpr (kObserved) count_operation(wave);
  const u32* const offsets = stage_private_offsets(wave, op);
  const u64 lds_base = (wave.word(scalar_offset(kM0Word)) & 0x3fffc) + static_cast<u64>(i64{static_cast<i32>(op->imm)});
  ++wave.worker->memory_writes;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    u8* const memory = private_memory(wave, op, lane, offsets[lane], Access::kBytes);
    load_lane_to_lds<Access>(wave, op, lane, memory, lds_base + lane * 4);
  }
  count_lanes<Access>(*wave.worker, MemorySpace::kScratch, wave.exec());
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Scratch is private to its lane: there is nothing to observe, but vmcnt counts it.
consteval Entry scratch(std::string_view mnemonic, u8 rows, u16 flags, Handler handler, Handler observed) {
  return {.mnemonic = mnemonic,
          .form = Form::kFlat,
          .flags = flags,
          .count = CountClass::kVectorMemory,
          .data_rows = rows,
          .handlers = {handler, nullptr, nullptr, nullptr, observed}};
}
template <class Access>
consteval Entry load(std::string_view mnemonic, u8 rows) {
  return scratch(mnemonic, rows, 0, scratch_handler<Access, false>, scratch_handler<Access, true>);
}
template <class Access>
consteval Entry store(std::string_view mnemonic, u8 rows) {
  return scratch(mnemonic, rows, kStores, scratch_handler<Access, false>, scratch_handler<Access, true>);
}
template <class Access>
consteval Entry to_lds(std::string_view mnemonic) {
  return scratch(mnemonic, 0, kStores, scratch_to_lds<Access, false>, scratch_to_lds<Access, true>);
}

constexpr Entry kEntries[] = {
    load<LoadNarrow<u8>>("scratch_load_ubyte", 1),
    load<LoadNarrow<i8>>("scratch_load_sbyte", 1),
    load<LoadNarrow<u16>>("scratch_load_ushort", 1),
    load<LoadNarrow<i16>>("scratch_load_sshort", 1),
    load<LoadHalf<u8, false>>("scratch_load_ubyte_d16", 1),
    load<LoadHalf<u8, true>>("scratch_load_ubyte_d16_hi", 1),
    load<LoadHalf<i8, false>>("scratch_load_sbyte_d16", 1),
    load<LoadHalf<i8, true>>("scratch_load_sbyte_d16_hi", 1),
    load<LoadHalf<u16, false>>("scratch_load_short_d16", 1),
    load<LoadHalf<u16, true>>("scratch_load_short_d16_hi", 1),
    load<LoadWords<1>>("scratch_load_dword", 1),
    load<LoadWords<2>>("scratch_load_dwordx2", 2),
    load<LoadWords<3>>("scratch_load_dwordx3", 3),
    load<LoadWords<4>>("scratch_load_dwordx4", 4),
    store<StoreNarrow<u8>>("scratch_store_byte", 1),
    store<StoreNarrow<u8, true>>("scratch_store_byte_d16_hi", 1),
    store<StoreNarrow<u16>>("scratch_store_short", 1),
    store<StoreNarrow<u16, true>>("scratch_store_short_d16_hi", 1),
    store<StoreWords<1>>("scratch_store_dword", 1),
    store<StoreWords<2>>("scratch_store_dwordx2", 2),
    store<StoreWords<3>>("scratch_store_dwordx3", 3),
    store<StoreWords<4>>("scratch_store_dwordx4", 4),
    to_lds<LoadNarrow<u8>>("scratch_load_lds_ubyte"),
    to_lds<LoadNarrow<i8>>("scratch_load_lds_sbyte"),
    to_lds<LoadNarrow<u16>>("scratch_load_lds_ushort"),
    to_lds<LoadNarrow<i16>>("scratch_load_lds_sshort"),
    to_lds<LoadWords<1>>("scratch_load_lds_dword"),
};

}  // namespace

std::span<const Entry> scratch_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
