// MUBUF format loads and stores, and MTBUF: elements of the descriptor's or the instruction's data format, converted
// to and from registers. Range checks are all or nothing.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/buffer_address.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/mode.h"
#include "runtime/emulator/execute/observed_memory.h"
#include "runtime/emulator/numerics/element_format.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;
using n::NumberFormat;

/// What one instruction moves between registers and an element.
struct FormatAccess {
  u32 components;
  bool halves = false;  ///< d16: two components in a register
  bool high = false;    ///< d16_hi: the one component in the upper half
  bool typed = false;   ///< MTBUF: the format is the instruction's
};

struct ElementFormat {
  n::ElementLayout layout;
  NumberFormat number;
  u8 select[n::kMostComponents];  ///< where a register component comes from: 0, 1, or 4 + memory component
};

constexpr u32 kSelectZero = 0, kSelectOne = 1, kSelectMemory = 4;

/// The descriptor's last word as far as it tells a format: dst_sel, number format, data format.
constexpr u32 kFormatBits = 0x7ffff;

ElementFormat unpack_format(u32 flags) {
  ElementFormat format{.layout = n::kElementLayouts[flags >> kDataFormatShift & 15],
                       .number = static_cast<NumberFormat>(flags >> kNumberFormatShift & 7),
                       .select = {}};
  for (u32 i = 0; i < n::kMostComponents; ++i) format.select[i] = static_cast<u8>(flags >> (3 * i) & 7);
  return format;
}

/// The same for an MTBUF instruction, whose components keep their places.
u32 typed_flags(const MicroOp* op) {
  u32 flags = (op->aux >> kTypedDataShift & 15) << kDataFormatShift | (op->aux >> kTypedNumberShift & 7)
                                                                          << kNumberFormatShift;
  for (u32 i = 0; i < n::kMostComponents; ++i) flags |= (kSelectMemory + i) << (3 * i);
  return flags;
}

u32 format_flags(Wave& wave, const MicroOp* op, bool typed) {
  const u32 descriptor = wave.word(op->b + 12) & kFormatBits;
  const u32 flags = typed ? typed_flags(op) : descriptor;
  const u32 data = flags >> kDataFormatShift & 15, number = flags >> kNumberFormatShift & 7;
  const bool unbound = descriptor >> kDataFormatShift == 0;
  if (!unbound && !n::is_element_format(data, number))
    element_format_fault(op, data, number, typed ? "instruction" : "descriptor");
  for (u32 i = 0; i < n::kMostComponents; ++i) {
    const u32 chosen = flags >> (3 * i) & 7;
    if (chosen == 2 || chosen == 3)
      wave_fault(FailureKind::kIllegalAddress, op, "the descriptor's dst_sel is reserved");
  }
  return flags;
}

bool is_integer(NumberFormat number) { return number == NumberFormat::kUint || number == NumberFormat::kSint; }

/// A register component of an element; `words` is null for an element out of range.
u32 load_component(const ElementFormat& format, const u32* words, u32 index) {
  const u32 selected = format.select[index];
  if (selected == kSelectOne) return is_integer(format.number) ? 1 : 0x3f800000;
  if (selected == kSelectZero || words == nullptr) return 0;
  const u32 component = selected - kSelectMemory;
  if (format.layout.bits[component] == 0) return 0;
  return n::widen_component(format.number, n::component_of(format.layout, words, component),
                            format.layout.bits[component]);
}

u32 to_half(NumberFormat number, u32 value) {
  return is_integer(number) ? value & 0xffff : u32{n::encode_f16(value, false)};
}

u32 from_half(NumberFormat number, u32 half) {
  if (number == NumberFormat::kSint) return static_cast<u32>(i32{static_cast<i16>(half)});
  return number == NumberFormat::kUint ? half : n::decode_f16(half);
}

void load_lane(const FormatAccess& access, const ElementFormat& format, const u32* words, u32* rows, u32 lane) {
  for (u32 i = 0; i < access.components; ++i) {
    const u32 value = load_component(format, words, i);
    if (!access.halves) {
      rows[i * kLanes + lane] = value;
      continue;
    }
    const u32 half = to_half(format.number, value);
    u32& word = rows[i / 2 * kLanes + lane];
    word = i % 2 != 0 ? word | half << 16 : half << (access.high ? 16 : 0);
  }
}

/// Memory components that no register component goes to are written as zero.
void store_lane(const FormatAccess& access, const ElementFormat& format, u32* words, const u32* rows, u32 lane) {
  u32 written = 0;
  for (u32 i = 0; i < access.components; ++i) {
    const u32 component = u32{format.select[i]} - kSelectMemory;
    if (format.select[i] < kSelectMemory || format.layout.bits[component] == 0 || (written >> component & 1) != 0)
      continue;
    written |= 1u << component;
    u32 value = rows[i * kLanes + lane];
    if (access.halves) {
      const u32 half = rows[i / 2 * kLanes + lane] >> (i % 2 != 0 || access.high ? 16 : 0) & 0xffff;
      value = from_half(format.number, half);
    }
    n::put_component(format.layout, words, component,
                     n::narrow_component(format.number, value, format.layout.bits[component]));
  }
}

/// The element of a lane in memory, or null if it is out of range.
u8* element_of(Wave& wave, const MicroOp* op, const Descriptor& buffer, const LanePlace& place, u32 bytes, u32 lane,
               AccessKind kind) {
  if (!passes_range_check(wave, buffer, place, 0, bytes)) return nullptr;
  if (bytes >= 4 && place.address % 4 != 0) misaligned_fault(wave, op, kind, lane, place.address, bytes, 4);
  if (!wave.worker->reachable(place.address, place.address + bytes))
    memory_fault(wave, op, kind, lane, place.address, bytes);
  MovedBytes& moved = wave.worker->bytes;
  (kind == AccessKind::kLoad ? moved.loaded : moved.stored)[static_cast<u32>(wave.worker->space)] += bytes;
  return reinterpret_cast<u8*>(place.address);
}

/// Conversions are the texture unit's: MODE has no say in them.
class DefaultRounding {
 public:
  DefaultRounding() : saved_(_mm_getcsr()) { _mm_setcsr(kHostModeDefault); }
  ~DefaultRounding() { _mm_setcsr(saved_); }
  DefaultRounding(const DefaultRounding&) = delete;
  DefaultRounding& operator=(const DefaultRounding&) = delete;

 private:
  u32 saved_;
};

/// What the observed path calls the access of an element.
template <AccessKind kAccess>
struct ElementAccess {
  static constexpr AccessKind kKind = kAccess;
  static constexpr u32 kBytes = kLaneSlot;  // the most; a request has the format's
};

/// With a request, lanes that reach memory go there.
[[gnu::noinline]] void move_elements(Wave& wave, const MicroOp* op, const FormatAccess& access, u32 flags, bool stores,
                                     bool to_lds, MemoryRequest* request) {
  const ElementFormat format = unpack_format(flags);
  const Descriptor buffer = read_descriptor<true>(wave, op->b);
  const u64 soffset = wave.word(op->c);
  const LaneOffsets at = stage_offsets(wave, op);
  const u32 bytes = format.layout.bytes();
  const u64 lds_base = u64{wave.word(scalar_offset(kM0Word)) & 0x3ffff} + op->imm;
  u32* const rows = to_lds ? wave.worker->staging[kMovedStaging] : wave.row(op->dst);
  const DefaultRounding rounding;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const LanePlace place = at.place(buffer, soffset, lane);
    u8* memory = element_of(wave, op, buffer, place, bytes, lane, stores ? AccessKind::kStore : AccessKind::kLoad);
    u8* const target = to_lds ? lds_destination(wave, op, lane, lds_base + lane * 4, 4) : nullptr;
    if (memory != nullptr && request != nullptr) {
      add_lane(*request, lane, place.address, bytes);
      if (!stores) continue;
      memory = request->data + lane * kLaneSlot;
    }
    u32 words[n::kMostComponents] = {};
    if (stores) {
      if (memory == nullptr) continue;
      store_lane(access, format, words, rows, lane);
      std::memcpy(memory, words, bytes);
      continue;
    }
    if (memory != nullptr) std::memcpy(words, memory, bytes);
    load_lane(access, format, memory == nullptr ? nullptr : words, rows, lane);
    if (to_lds) store_as(target, rows[lane]);
  }
}

/// Converts what an observed load has fetched.
template <u32 kComponents, bool kHalves, bool kHigh, bool kToLds>
void deliver_elements(Wave& wave, const MemoryRequest& request) {
  const ElementFormat format = unpack_format(request.context);
  u32* const rows = kToLds ? wave.worker->staging[kMovedStaging] : wave.row(request.op->dst);
  const DefaultRounding rounding;
  for (u64 lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    u32 words[n::kMostComponents] = {};
    std::memcpy(words, request.data + lane * kLaneSlot, request.bytes);
    load_lane({kComponents, kHalves, kHigh}, format, words, rows, lane);
    if (kToLds) store_as(wave.lds + request.lds_base + lane * 4, rows[lane]);
  }
}

/// A request of elements to the memory model. True: the wave should let others run.
template <u32 kComponents, bool kHalves, bool kHigh, bool kTyped, bool kStoresData, bool kToLds>
[[gnu::noinline]] bool observe_elements(Wave& wave, const MicroOp* op, u32 flags) {
  MemoryRequest& fresh = new_request<ElementAccess<kStoresData ? AccessKind::kStore : AccessKind::kLoad>>(wave, op);
  fresh.bytes = unpack_format(flags).layout.bytes();
  move_elements(wave, op, {kComponents, kHalves, kHigh, kTyped}, flags, kStoresData, kToLds, &fresh);
  std::unique_ptr<MemoryRequest>& request = wave.worker->request;
  if (request->lanes == 0) return count_operation(wave);
  if constexpr (kStoresData) return wave.worker->model->store(wave, request);
  request->context = flags;
  request->lds_base = (wave.word(scalar_offset(kM0Word)) & 0x3ffff) + op->imm;
  request->deliver = deliver_elements<kComponents, kHalves, kHigh, kToLds>;
  return wave.worker->model->load(wave, request);
}

template <u32 kComponents, bool kHalves, bool kHigh, bool kTyped, bool kStoresData, bool kToLds, bool kObserved>
void format_handler(Wave& wave, const MicroOp* op) {
  const u32 flags = format_flags(wave, op, kTyped);
  if (kStoresData || kToLds) ++wave.worker->memory_writes;
  if constexpr (kObserved) {
    MONOJIT_EMULATOR_NEXT_UNLESS(
        (observe_elements<kComponents, kHalves, kHigh, kTyped, kStoresData, kToLds>(wave, op, flags)), wave, op);
  } else {
    move_elements(wave, op, {kComponents, kHalves, kHigh, kTyped}, flags, kStoresData, kToLds, nullptr);
    MONOJIT_EMULATOR_NEXT(wave, op);
  }
}

template <bool kStoresData, u32 kComponents, bool kHalves, bool kHigh, bool kTyped>
consteval Entry formatted(std::string_view mnemonic) {
  Entry entry{
      .mnemonic = mnemonic,
      .form = Form::kBuffer,
      .flags = kStoresData ? u16{kStores} : u16{0},
      .count = CountClass::kVectorMemory,
      .data_rows = kHalves ? (kComponents + 1) / 2 : kComponents,
      .handlers = {format_handler<kComponents, kHalves, kHigh, kTyped, kStoresData, false, false>, nullptr, nullptr,
                   nullptr, format_handler<kComponents, kHalves, kHigh, kTyped, kStoresData, false, true>}};
  if constexpr (kComponents == 1 && !kHalves && !kTyped && !kStoresData) {
    entry.handlers[2] = format_handler<1, false, false, false, false, true, false>;
    entry.handlers[2 + kObservedHandlers] = format_handler<1, false, false, false, false, true, true>;
  }
  return entry;
}
template <u32 kComponents, bool kHalves, bool kHigh, bool kTyped>
consteval Entry load(std::string_view mnemonic) {
  return formatted<false, kComponents, kHalves, kHigh, kTyped>(mnemonic);
}
template <u32 kComponents, bool kHalves, bool kHigh, bool kTyped>
consteval Entry store(std::string_view mnemonic) {
  return formatted<true, kComponents, kHalves, kHigh, kTyped>(mnemonic);
}

#define MONOJIT_FORMATS(kind, name, typed)                                                     \
  kind<1, false, false, typed>(name "_x"), kind<2, false, false, typed>(name "_xy"),           \
      kind<3, false, false, typed>(name "_xyz"), kind<4, false, false, typed>(name "_xyzw"),   \
      kind<1, true, false, typed>(name "_d16_x"), kind<2, true, false, typed>(name "_d16_xy"), \
      kind<3, true, false, typed>(name "_d16_xyz"), kind<4, true, false, typed>(name "_d16_xyzw")

constexpr Entry kEntries[] = {
    MONOJIT_FORMATS(load, "buffer_load_format", false),
    MONOJIT_FORMATS(store, "buffer_store_format", false),
    MONOJIT_FORMATS(load, "tbuffer_load_format", true),
    MONOJIT_FORMATS(store, "tbuffer_store_format", true),
    load<1, true, true, false>("buffer_load_format_d16_hi_x"),
    store<1, true, true, false>("buffer_store_format_d16_hi_x"),
};

#undef MONOJIT_FORMATS

}  // namespace

std::span<const Entry> buffer_format_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
