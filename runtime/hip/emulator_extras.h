#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/hip/table.h"

namespace monojit::runtime {

/// Bytes that kernels asked for.
struct MovedBytes {
  std::uint64_t loaded = 0;
  std::uint64_t stored = 0;

  MovedBytes operator-(const MovedBytes& before) const { return {loaded - before.loaded, stored - before.stored}; }
  MovedBytes operator+(const MovedBytes& other) const { return {loaded + other.loaded, stored + other.stored}; }
};

/// What the emulator has executed since the process started.
struct EmulatorCounts {
  std::uint64_t wave_instructions = 0;  ///< of the classes below together
  std::uint64_t vector = 0;
  std::uint64_t scalar = 0;
  std::uint64_t scalar_memory = 0;
  std::uint64_t vector_memory = 0;
  std::uint64_t lds = 0;
  std::uint64_t mfma = 0;
  std::uint64_t other = 0;
  std::uint64_t mfma_with_partial_exec = 0;
  std::uint64_t buffer_parts_out_of_range = 0;
  double seconds = 0;       ///< of this machine, inside launches
  MovedBytes device_bytes;  ///< of the device's own memory; kernel arguments and code are not counted
  MovedBytes peer_bytes;    ///< of other devices
  MovedBytes host_bytes;
  MovedBytes lds_bytes;
  MovedBytes scratch_bytes;

  EmulatorCounts operator-(const EmulatorCounts& before) const;
  EmulatorCounts operator+(const EmulatorCounts& more) const;
};

/// Nothing when the provider is no emulator.
std::optional<EmulatorCounts> emulator_counts(const HipTable& table);

/// What the emulator executes from now on.
class EmulatorCounter {
 public:
  /// `table` must outlive this.
  explicit EmulatorCounter(const HipTable& table) : table_(table), before_(emulator_counts(table)) {}
  /// Until now; nothing when the provider is no emulator.
  std::optional<EmulatorCounts> counts() const;

 private:
  const HipTable& table_;
  std::optional<EmulatorCounts> before_;
};

/// What a code object holds, as JSON (runtime/emulator/emulator.h has the fields). `name` stands in messages. Throws
/// UserError when it is none, or one for another chip.
std::string inspect_code_object(const HipTable& emulator, std::span<const std::byte> object, const std::string& name);

/// Sets an option of the emulator ("seed"). Throws UserError with the emulator's reason.
void set_emulator_option(const HipTable& emulator, const std::string& option, const std::string& value);

/// Launches from now on are profiled, or not. Throws UserError when the provider is no emulator.
void set_emulator_profiling(const HipTable& emulator, bool on);

/// What profiled launches executed, as JSON (runtime/emulator/emulator.h has the fields), and forgets it.
std::string take_emulator_profile(const HipTable& emulator);

/// Launches from now on are traced, or not. Throws UserError when the provider is no emulator.
void set_emulator_tracing(const HipTable& emulator, bool on);

/// When which workgroup and wave of the traced launches ran and waited, as a trace file in Chrome's JSON format, and
/// forgets it.
std::string take_emulator_trace(const HipTable& emulator);

/// One line: chip, model of the matrix core, host instruction set, threads. Empty when the provider is no emulator.
std::string emulator_description(const HipTable& table);

/// How the matrix core adds up: "cdna3", "fma-chain" or "exact". Empty when the provider is no emulator.
std::string emulator_matrix_model(const HipTable& table);

}  // namespace monojit::runtime
