// DS: LDS loads and stores. Atomics are in lds_atomic.cpp, exchanges between lanes that only bear the prefix in
// lane_exchange.cpp.
#include <bit>

#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/access.h"
#include "runtime/emulator/execute/lane_memory.h"
#include "runtime/emulator/execute/lds_entry.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// Micro-op: dst result, a address row, b and c data rows, imm offset0, aux offset1 (both in bytes).
[[gnu::noinline, noreturn]] void report_outside(const Wave& wave, const MicroOp* op, const u32* offsets, u32 bytes) {
  u32 lane = 0;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    lane = static_cast<u32>(__builtin_ctzll(lanes));
    if (u64{offsets[lane]} + bytes > wave.lds_bytes) break;
  }
  lds_fault(wave, op, lane, offsets[lane], bytes);
}

/// Plain loads and stores may be unaligned, as the driver sets these chips up; the strict rule wants 8, 16 and 16 bytes
/// for b64, b96 and b128.
[[gnu::noinline]] void check_alignment(const Wave& wave, const MicroOp* op, AccessKind kind, const u32* offsets,
                                       u32 bytes, u32 alignment) {
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    if (offsets[lane] % alignment != 0) misaligned_lds_fault(op, kind, lane, offsets[lane], bytes, alignment);
  }
}

template <class Access>
MONOJIT_EMULATOR_INLINE void access_lds(Wave& wave, const MicroOp* op, u32* result, const u32* data, const u32* offsets,
                                        u64 exec) {
  const OffsetRange range = range_of(offsets, exec);
  if (u64{range.high} + Access::kBytes > wave.lds_bytes) [[unlikely]]
    report_outside(wave, op, offsets, Access::kBytes);
  constexpr u32 kAlignment = std::bit_ceil(Access::kBytes);
  if (wave.worker->strict_alignment && (range.bits & (kAlignment - 1)) != 0) [[unlikely]]
    check_alignment(wave, op, Access::kKind, offsets, Access::kBytes, kAlignment);
  count_lanes<Access>(*wave.worker, MemorySpace::kLds, exec);
  const bool wrote = move_lanes<Access>(result, data, wave.lds, offsets, exec);
  wave.worker->memory_writes += wrote ? 1 : 0;
}

template <class Access>
void lds_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  if (exec == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  const u32* const address = wave.row(op->a);
  for (u32 i = 0; i < kLanes; ++i) offsets[i] = address[i] + op->imm;
  access_lds<Access>(wave, op, op->dst == kNoOperand ? nullptr : wave.row(op->dst),
                     op->b == kNoOperand ? nullptr : wave.row(op->b), offsets, exec);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// read2 / write2: two accesses of kWords registers each. Both addresses are taken before the first result is written.
template <class Access, u32 kWords>
void lds_pair_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  if (exec == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  u32* const first = wave.worker->staging[kOffsetStaging];
  u32* const second = wave.worker->staging[kWideStaging];
  const u32* const address = wave.row(op->a);
  for (u32 i = 0; i < kLanes; ++i) {
    first[i] = address[i] + op->imm;
    second[i] = address[i] + op->aux;
  }
  if constexpr (Access::kKind == AccessKind::kLoad) {
    access_lds<Access>(wave, op, wave.row(op->dst), nullptr, first, exec);
    access_lds<Access>(wave, op, wave.row(op->dst) + kWords * kLanes, nullptr, second, exec);
  } else {
    access_lds<Access>(wave, op, nullptr, wave.row(op->b), first, exec);
    access_lds<Access>(wave, op, nullptr, wave.row(op->c), second, exec);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// ds_read_addtid / ds_write_addtid: address = offset + M0[15:0] + lane * 4, without an address register. The one
/// register operand stands where others have their address.
template <class Access>
void addtid_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  if (exec == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  const u32 base = (wave.word(scalar_offset(kM0Word)) & 0xffff) + op->imm;
  for (u32 i = 0; i < kLanes; ++i) offsets[i] = base + 4 * i;
  access_lds<Access>(wave, op, op->dst == kNoOperand ? nullptr : wave.row(op->dst),
                     op->a == kNoOperand ? nullptr : wave.row(op->a), offsets, exec);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// ds_read_b64_tr_*: each lane reads kWords words; inside each group of 16 lanes the elements of kBits are transposed:
/// lane l's element n is element l % E of lane l / E + n * 16 / E, where a lane holds E elements.
template <u32 kBits, u32 kWords>
void read_transposed(Wave& wave, const MicroOp* op) {
  constexpr u32 kCount = kWords * 32 / kBits;
  constexpr u32 kGroup = 16;
  const u64 exec = wave.exec();
  if (exec == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  u32* const read = wave.worker->staging[kWideStaging];  // kWords rows
  const u32* const address = wave.row(op->a);
  for (u32 i = 0; i < kLanes; ++i) offsets[i] = address[i] + op->imm;
  for (u32 i = 0; i < kLanes * kWords; ++i) read[i] = 0;
  constexpr u32 kAlignment = kWords == 2 ? 8 : 4;
  check_alignment(wave, op, AccessKind::kLoad, offsets, kWords * 4, kAlignment);
  access_lds<LoadWords<kWords>>(wave, op, read, nullptr, offsets, exec);
  const auto element = [&](u32 lane, u32 index) {
    const u32 bit = index * kBits;
    u64 pair = read[bit / 32 * kLanes + lane];
    if (bit / 32 + 1 < kWords) pair |= u64{read[(bit / 32 + 1) * kLanes + lane]} << 32;
    return pair >> (bit % 32) & ((u64{1} << kBits) - 1);
  };
  u32* const result = wave.row(op->dst);
  for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u32 in_group = lane % kGroup;
    u128 packed = 0;
    for (u32 i = 0; i < kCount; ++i) {
      const u32 source = lane - in_group + in_group / kCount + i * (kGroup / kCount);
      packed |= u128{element(source, in_group % kCount)} << (i * kBits);
    }
    for (u32 i = 0; i < kWords; ++i) result[i * kLanes + lane] = static_cast<u32>(packed >> (32 * i));
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

// offset0/offset1 of pair forms count elements; st64 forms count 64 elements.
constexpr u8 kElement = 1, kElement64 = 64;

constexpr Entry kEntries[] = {
    lds("ds_read_u8", 1, 0, lds_handler<LoadNarrow<u8>>),
    lds("ds_read_i8", 1, 0, lds_handler<LoadNarrow<i8>>),
    lds("ds_read_u16", 1, 0, lds_handler<LoadNarrow<u16>>),
    lds("ds_read_i16", 1, 0, lds_handler<LoadNarrow<i16>>),
    lds("ds_read_u8_d16", 1, 0, lds_handler<LoadHalf<u8, false>>),
    lds("ds_read_u8_d16_hi", 1, 0, lds_handler<LoadHalf<u8, true>>),
    lds("ds_read_i8_d16", 1, 0, lds_handler<LoadHalf<i8, false>>),
    lds("ds_read_i8_d16_hi", 1, 0, lds_handler<LoadHalf<i8, true>>),
    lds("ds_read_u16_d16", 1, 0, lds_handler<LoadHalf<u16, false>>),
    lds("ds_read_u16_d16_hi", 1, 0, lds_handler<LoadHalf<u16, true>>),
    lds("ds_read_b32", 1, 0, lds_handler<LoadWords<1>>),
    lds("ds_read_b64", 2, 0, lds_handler<LoadWords<2>>),
    lds("ds_read_b96", 3, 0, lds_handler<LoadWords<3>>),
    lds("ds_read_b128", 4, 0, lds_handler<LoadWords<4>>),
    lds("ds_read2_b32", 1, 0, lds_pair_handler<LoadWords<1>, 1>, kElement),
    lds("ds_read2_b64", 2, 0, lds_pair_handler<LoadWords<2>, 2>, kElement),
    lds("ds_read2st64_b32", 1, 0, lds_pair_handler<LoadWords<1>, 1>, kElement64),
    lds("ds_read2st64_b64", 2, 0, lds_pair_handler<LoadWords<2>, 2>, kElement64),
    lds("ds_write_b8", 1, kStores, lds_handler<StoreNarrow<u8>>),
    lds("ds_write_b8_d16_hi", 1, kStores, lds_handler<StoreNarrow<u8, true>>),
    lds("ds_write_b16", 1, kStores, lds_handler<StoreNarrow<u16>>),
    lds("ds_write_b16_d16_hi", 1, kStores, lds_handler<StoreNarrow<u16, true>>),
    lds("ds_write_b32", 1, kStores, lds_handler<StoreWords<1>>),
    lds("ds_write_b64", 2, kStores, lds_handler<StoreWords<2>>),
    lds("ds_write_b96", 3, kStores, lds_handler<StoreWords<3>>),
    lds("ds_write_b128", 4, kStores, lds_handler<StoreWords<4>>),
    lds("ds_write2_b32", 1, kStores, lds_pair_handler<StoreWords<1>, 1>, kElement),
    lds("ds_write2_b64", 2, kStores, lds_pair_handler<StoreWords<2>, 2>, kElement),
    lds("ds_write2st64_b32", 1, kStores, lds_pair_handler<StoreWords<1>, 1>, kElement64),
    lds("ds_write2st64_b64", 2, kStores, lds_pair_handler<StoreWords<2>, 2>, kElement64),
    lds("ds_read_b64_tr_b16", 2, 0, read_transposed<16, 2>),
    lds("ds_read_b64_tr_b8", 2, 0, read_transposed<8, 2>),
    lds("ds_read_b64_tr_b4", 2, 0, read_transposed<4, 2>),
    lds("ds_read_b96_tr_b6", 3, 0, read_transposed<6, 3>),
    lds("ds_read_addtid_b32", 1, 0, addtid_handler<LoadWords<1>>),
    lds("ds_write_addtid_b32", 1, kStores, addtid_handler<StoreWords<1>>),
};

}  // namespace

std::span<const Entry> lds_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
