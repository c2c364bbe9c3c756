#include "runtime/emulator/checks/defined_registers.h"

#include <fmt/format.h>

namespace monojit::emulator {
namespace {

constexpr u64 kAllLanes = ~u64{0};

bool reaches_memory(InstructionKind kind) {
  return kind == InstructionKind::kLds || kind == InstructionKind::kVectorMemory || kind == InstructionKind::kFlat ||
         kind == InstructionKind::kScalarMemory;
}

/// VCC, EXEC, M0 and the like have a value from the start, or are implied where they do not matter.
bool is_special(const RegisterUse& use) {
  return use.file == RegisterUse::File::kScalar && use.first >= kFlatScratchWord;
}

}  // namespace

u64 DefinedRegisters::defined_lanes(const RegisterUse& use) {
  u64 lanes = kAllLanes;
  for (u32 i = 0; i < use.count; ++i) lanes &= lanes_.at(use.file, u32{use.first} + i);
  return lanes;
}

/// As far as one can tell without looking at values.
u64 DefinedRegisters::result_lanes(const InstructionFacts& facts, u32 word) {
  if (facts.kind != InstructionKind::kVector || facts.crosses_lanes) return kAllLanes;
  u64 all = kAllLanes, any = 0;
  bool sources = false;
  for (const RegisterUse& use : facts.registers) {
    if (use.written || use.tied || use.file == RegisterUse::File::kScalar) continue;
    sources = true;
    RegisterUse read = use;
    if (facts.low_from_low && word == 0) read.count = 1;
    all &= defined_lanes(read);
    any |= defined_lanes(read);
  }
  if (!sources) return kAllLanes;
  return facts.takes_undefined ? any : all;
}

std::optional<std::string> DefinedRegisters::issue(const InstructionFacts& facts, u64 exec) {
  if (reaches_memory(facts.kind)) {
    for (const RegisterUse& use : facts.registers) {
      if (use.written || use.tied || is_special(use)) continue;
      const u64 needed = use.file == RegisterUse::File::kScalar ? kAllLanes : exec;
      const u64 missing = needed & ~defined_lanes(use);
      if (missing == 0) continue;
      const std::string name = register_name(use.file, use.first, use.count);
      if (use.file == RegisterUse::File::kScalar) return fmt::format("reads {}, which was never written", name);
      return fmt::format("reads {} of lane {}, which depends on a register that was never written", name,
                         __builtin_ctzll(missing));
    }
  }
  const u64 first_word = result_lanes(facts, 0);
  const u64 others = facts.low_from_low ? result_lanes(facts, 1) : first_word;
  const bool every_lane = facts.kind == InstructionKind::kMatrix || facts.crosses_lanes;
  for (const RegisterUse& use : facts.registers) {
    if (!use.written) continue;
    for (u32 i = 0; i < use.count; ++i) {
      u64& lanes = lanes_.at(use.file, u32{use.first} + i);
      if (use.file == RegisterUse::File::kScalar || every_lane) {
        lanes = kAllLanes;
      } else {
        lanes = (lanes & ~exec) | (exec & (i == 0 ? first_word : others));
      }
    }
  }
  return std::nullopt;
}

}  // namespace monojit::emulator
