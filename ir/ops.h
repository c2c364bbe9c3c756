#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/target.h"

namespace monojit::ir {

/// Every operation that stands for an instruction of its own. ops.inc is the one table of them: builders, capability
/// errors and the instruction tests all read it.
enum class Op : std::uint16_t {
#define MONOJIT_OP(name, intrinsic, chips, gfx942, gfx950) name,
#include "ir/ops.inc"
#undef MONOJIT_OP
};

struct OpInfo {
  std::string_view name;
  std::uint8_t chips;       ///< bits of Chip
  std::string_view gfx942;  ///< the mnemonic that it becomes there
  std::string_view gfx950;

  constexpr bool available(Chip chip) const { return (chips & static_cast<std::uint8_t>(chip)) != 0; }
  constexpr std::string_view mnemonic(Chip chip) const { return chip == Chip::kGfx942 ? gfx942 : gfx950; }
};

std::span<const OpInfo> ops();
inline const OpInfo& info(Op op) { return ops()[static_cast<std::size_t>(op)]; }

}  // namespace monojit::ir
