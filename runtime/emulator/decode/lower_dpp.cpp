// DPP controls as lane permutations.
#include <charconv>

#include <fmt/format.h>

#include "runtime/emulator/decode/lowering.h"

namespace monojit::emulator {
namespace {

constexpr u32 kRowLanes = 16;  // a DPP row
constexpr u32 kBankLanes = 4;
constexpr u32 kNoLane = ~0u;

u32 number_in(std::string_view text) {
  u32 value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The lane that `lane` reads under one control, or kNoLane.
u32 source_lane(u32 lane, std::string_view control, u32 amount, const std::optional<ModifierList>& quad) {
  const u32 in_row = lane % kRowLanes;
  const u32 row = lane - in_row;
  if (quad) return (lane & ~3u) + quad->values[lane & 3];
  if (control == "row_shl") return in_row + amount < kRowLanes ? lane + amount : kNoLane;
  if (control == "row_shr") return in_row >= amount ? lane - amount : kNoLane;
  if (control == "row_ror") return row + (in_row + kRowLanes - amount) % kRowLanes;
  if (control == "row_newbcast") return row + amount;
  if (control == "row_mirror") return row + kRowLanes - 1 - in_row;
  if (control == "row_half_mirror") return row + (in_row & 8) + 7 - (in_row & 7);
  if (control == "wave_shl") return lane + 1 < kLanes ? lane + 1 : kNoLane;
  if (control == "wave_shr") return lane > 0 ? lane - 1 : kNoLane;
  if (control == "wave_rol") return (lane + 1) % kLanes;
  if (control == "wave_ror") return (lane + kLanes - 1) % kLanes;
  if (control == "row_bcast" && amount == 15) return row >= kRowLanes ? row - 1 : kNoLane;
  if (control == "row_bcast" && amount == 31) return lane >= 32 ? 31 : kNoLane;
  return kNoLane;
}

constexpr std::string_view kControls[] = {"row_shl",   "row_shr",    "row_ror",         "row_newbcast",
                                          "row_bcast", "row_mirror", "row_half_mirror", "wave_shl",
                                          "wave_shr",  "wave_rol",   "wave_ror"};

}  // namespace

u32 Lowering::permutation_of(const Instruction& in) {
  std::string_view control;
  u32 amount = 0;
  for (const std::string_view name : kControls) {
    if (in.has(name)) control = name;
    if (const auto value = in.value_of(name)) control = name, amount = number_in(*value);
  }
  const auto quad = in.list_of("quad_perm");
  if (control.empty() && !quad) throw Unsupported("its DPP control is not known to the emulator");
  const u32 row_mask = static_cast<u32>(in.number_of("row_mask", 15));
  const u32 bank_mask = static_cast<u32>(in.number_of("bank_mask", 15));
  const bool zero_fill = in.value_of("bound_ctrl").has_value();
  const u32 quad_bits =
      quad ? 1u | quad->values[0] << 1 | quad->values[1] << 3 | quad->values[2] << 5 | quad->values[3] << 7 : 0;
  const std::string key = fmt::format("{}:{}:{}:{}:{}:{}", control, amount, quad_bits, row_mask, bank_mask, zero_fill);
  const auto known = permutations_.find(key);
  if (known != permutations_.end()) return known->second;

  auto permutation = std::make_unique<LanePermutation>();
  permutation->zero_fill = zero_fill;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 source = source_lane(lane, control, amount, quad);
    permutation->source[lane] = source == kNoLane ? lane : source;
    const bool written =
        (row_mask >> (lane / kRowLanes) & 1) != 0 && (bank_mask >> (lane % kRowLanes / kBankLanes) & 1) != 0;
    if (source != kNoLane) permutation->valid |= u64{1} << lane;
    if (written) permutation->written |= u64{1} << lane;
  }
  const u32 index = static_cast<u32>(program_.permutations.size());
  program_.permutations.push_back(std::move(permutation));
  permutations_.emplace(key, index);
  return index;
}

}  // namespace monojit::emulator
