// The instruction table as the decoder looks it up.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/decode/entry.h"

namespace monojit::emulator {

/// All rows for one chip, with the handlers for one host instruction set. A mnemonic "name@gfx942" is that chip's
/// variant of "name"; names that begin with a dot are steps of split instructions.
class InstructionTable {
 public:
  InstructionTable(const ChipLimits& chip, HostIsa isa);

  [[nodiscard]] HostIsa host_isa() const { return isa_; }
  [[nodiscard]] const Entry* find(std::string_view mnemonic) const;
  /// For names that the emulator itself uses: they are there.
  [[nodiscard]] const Entry& step(std::string_view name) const;
  [[nodiscard]] const std::unordered_map<std::string_view, const Entry*>& entries() const { return entries_; }

 private:
  void add(const Entry& entry, std::string_view arch);

  HostIsa isa_;
  std::unordered_map<std::string_view, const Entry*> entries_;
};

}  // namespace monojit::emulator
