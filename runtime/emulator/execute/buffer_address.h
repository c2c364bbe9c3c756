// Where a buffer instruction's lanes point, and which of them the range check lets through.
//
// Range rule (raw buffers): soffset and the access's end count, each dword by itself; with idxen on a strided buffer
// only the index counts. Formats and atomics are all or nothing. The CDNA4 reference leaves soffset and the end out of
// it: where the two answers differ, an access is counted (Worker::buffer_rule_differences).
#pragma once

#include "runtime/emulator/execute/lane_memory.h"
#include "runtime/emulator/execute/memory_flags.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

struct Descriptor {
  u64 base;
  u32 stride;
  u32 records;
  u32 index_stride;
  bool swizzled;
  bool add_thread;
  bool bound;
};

inline constexpr u32 kDataFormatShift = 15;
inline constexpr u32 kNumberFormatShift = 12;

/// kFormats: the instruction takes its data format from the descriptor. For the others, a descriptor that adds the
/// thread id has four more bits of stride in that field.
template <bool kFormats>
MONOJIT_EMULATOR_INLINE Descriptor read_descriptor(Wave& wave, u32 offset) {
  constexpr u32 kStrideBits = 14;
  const u64 low = wave.pair(offset);
  const u32 flags = wave.word(offset + 12);
  const u32 format = flags >> kDataFormatShift & 15;
  const bool add_thread = (flags >> 23 & 1) != 0;
  const bool wide_stride = add_thread && !kFormats;
  return {.base = low & 0xffffffffffff,
          .stride = (static_cast<u32>(low >> 48) & 0x3fff) | (wide_stride ? format << kStrideBits : 0),
          .records = wave.word(offset + 8),
          .index_stride = 8u << (flags >> 21 & 3),
          .swizzled = low >> 63 != 0,
          .add_thread = add_thread,
          .bound = format != 0 || wide_stride};
}

/// One lane's place in a buffer: the address, and how far the range check lets it go.
struct LanePlace {
  u64 address;
  u64 offset;  ///< what is compared with `limit`
  u64 limit;
  u64 bare_offset;  ///< what the reference compares: without soffset
  bool structured;  ///< `offset` is an index
};

MONOJIT_EMULATOR_INLINE LanePlace place_of(const Descriptor& buffer, u64 soffset, u32 index, u32 offset, bool indexed) {
  u64 inside = u64{buffer.stride} * index + offset;
  if (buffer.swizzled && buffer.stride != 0) {
    constexpr u64 kElement = 4;
    const u64 major = index / buffer.index_stride, minor = index % buffer.index_stride;
    inside = (major * buffer.stride + offset / kElement * kElement) * buffer.index_stride + minor * kElement +
             offset % kElement;
  }
  const u64 address = buffer.base + soffset + inside;
  const u64 limit = buffer.records;
  if (indexed && buffer.stride != 0) return {address, index, limit, index, true};
  return {address, soffset + inside, limit, inside, false};
}

/// Whether the bytes [first, first + bytes) of a lane's access may be touched. Counts those that may not.
MONOJIT_EMULATOR_INLINE bool passes_range_check(Wave& wave, const Descriptor& buffer, const LanePlace& place, u32 first,
                                                u32 bytes) {
  if (buffer.bound && buffer.add_thread) return true;
  const u64 end = place.structured ? place.offset + 1 : place.offset + first + bytes;
  const u64 start = place.structured ? place.offset : place.bare_offset + first;
  const bool inside = buffer.bound && end <= place.limit;
  if (!inside) ++wave.worker->out_of_range_buffer_lanes;
  if (inside != (buffer.bound && start < place.limit)) ++wave.worker->buffer_rule_differences;
  return inside;
}

/// The lanes' offsets (offen and the instruction's) and, where idxen is set, their indices.
struct LaneOffsets {
  const u32* offsets;
  const u32* indices;  ///< null without idxen

  [[nodiscard]] MONOJIT_EMULATOR_INLINE LanePlace place(const Descriptor& buffer, u64 soffset, u32 lane) const {
    const u32 index = (indices == nullptr ? 0 : indices[lane]) + (buffer.add_thread ? lane : 0);
    return place_of(buffer, soffset, index, offsets[lane], indices != nullptr);
  }
};

/// Into staging rows, as the destination may overlap the address registers. op: a address row, imm offset, aux flags.
MONOJIT_EMULATOR_INLINE LaneOffsets stage_offsets(Wave& wave, const MicroOp* op) {
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  const bool indexed = (op->aux & kIndexEnable) != 0;
  if ((op->aux & kOffsetEnable) != 0) {
    const u32* const row = wave.row(op->a + (indexed ? kRowBytes : 0));
    for (u32 i = 0; i < kLanes; ++i) offsets[i] = row[i] + op->imm;
  } else {
    for (u32 i = 0; i < kLanes; ++i) offsets[i] = op->imm;
  }
  if (!indexed) return {offsets, nullptr};
  u32* const indices = wave.worker->staging[kWideStaging];
  std::memcpy(indices, wave.row(op->a), kRowBytes);
  return {offsets, indices};
}

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
