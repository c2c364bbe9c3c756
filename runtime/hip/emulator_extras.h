#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/hip/table.h"

namespace monojit::runtime {

/// What the emulator has executed since the process started.
struct EmulatorCounts {
  std::uint64_t wave_instructions = 0;
  std::uint64_t mfma = 0;  ///< of them
  double seconds = 0;      ///< of this machine, inside launches
};

/// Nothing when the provider is no emulator.
std::optional<EmulatorCounts> emulator_counts(const HipTable& table);

/// One line: chip, model of the matrix core, host instruction set, threads. Empty when the provider is no emulator.
std::string emulator_description(const HipTable& table);

/// How the matrix core adds up: "cdna3", "fma-chain" or "exact". Empty when the provider is no emulator.
std::string emulator_matrix_model(const HipTable& table);

/// Sets an option of monojitEmulatorSetOption(). Throws std::runtime_error with the emulator's reason, or when the
/// provider is no emulator.
void set_emulator_option(const HipTable& table, const std::string& name, const std::string& value);

}  // namespace monojit::runtime
