#include "runtime/emulator/decode/instruction_table.h"

#include <stdexcept>

#include "runtime/emulator/decode/tables.h"

namespace monojit::emulator {

InstructionTable::InstructionTable(const ChipLimits& chip, HostIsa isa) : isa_(isa) {
  const auto add_all = [&](auto... tables) {
    for (const std::span<const Entry> table : {tables...}) {
      for (const Entry& entry : table) add(entry, chip.arch);
    }
  };
  add_all(scalar_entries(), scalar_wide_entries(), scalar_control_entries(), scalar_memory_entries(),
          scalar_atomic_entries(), scalar_fork_entries(), hardware_register_entries(), vector_skip_entries(),
          pair_entries());
  if (isa == HostIsa::kX86V4) {
    using namespace isa_v4;  // NOLINT(google-build-using-namespace): picks one of two equal sets of names
    add_all(vector_move_entries(), vector_wide_entries(), vector_byte_entries(), vector_short_entries(),
            vector_saturating_entries(), vector_float_entries(), vector_double_entries(), vector_convert_entries(),
            vector_fp8_entries(), vector_compare_entries(), vector_packed_entries(), vector_step_entries(),
            mx_block_entries(), lane_exchange_entries(), buffer_entries(), buffer_format_entries(), flat_entries(),
            scratch_entries(), lds_entries(), lds_atomic_entries());
  } else {
    using namespace isa_v3;  // NOLINT(google-build-using-namespace)
    add_all(vector_move_entries(), vector_wide_entries(), vector_byte_entries(), vector_short_entries(),
            vector_saturating_entries(), vector_float_entries(), vector_double_entries(), vector_convert_entries(),
            vector_fp8_entries(), vector_compare_entries(), vector_packed_entries(), vector_step_entries(),
            mx_block_entries(), lane_exchange_entries(), buffer_entries(), buffer_format_entries(), flat_entries(),
            scratch_entries(), lds_entries(), lds_atomic_entries());
  }
}

void InstructionTable::add(const Entry& entry, std::string_view arch) {
  const std::size_t at = entry.mnemonic.find('@');
  if (at == std::string_view::npos) {
    entries_.try_emplace(entry.mnemonic, &entry);
  } else if (entry.mnemonic.substr(at + 1) == arch) {
    entries_[entry.mnemonic.substr(0, at)] = &entry;
  }
}

const Entry* InstructionTable::find(std::string_view mnemonic) const {
  const auto found = entries_.find(mnemonic);
  return found == entries_.end() ? nullptr : found->second;
}

const Entry& InstructionTable::step(std::string_view name) const {
  const Entry* const entry = find(name);
  if (entry == nullptr) throw std::logic_error("the instruction table lacks " + std::string(name));
  return *entry;
}

}  // namespace monojit::emulator
