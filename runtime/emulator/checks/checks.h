// Which mistakes the emulator looks for although a chip would not tell. Each costs time, so each is asked for by name.
#pragma once

#include <string_view>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

struct Checks {
  bool registers = false;  ///< memory operations that depend on registers never written
  bool memory = false;     ///< loads of memory never written
  bool waits = false;      ///< results used before their wait counter
  bool hazards = false;    ///< MFMA dependences without their wait states
  bool exec = false;       ///< MFMAs under a partial EXEC
  bool buffers = false;    ///< buffer descriptors that make no sense
  bool races = false;      ///< conflicting accesses that nothing orders

  bool operator==(const Checks&) const = default;

  /// Any that looks at instructions one by one.
  [[nodiscard]] bool of_instructions() const { return registers || waits || hazards || exec || buffers || races; }
  /// Any that looks at what memory operations do.
  [[nodiscard]] bool of_memory() const { return memory || races; }
  [[nodiscard]] bool any() const { return of_instructions() || of_memory(); }
};

inline constexpr std::string_view kCheckNames =
    "none, all, or a list of buffers, exec, hazards, memory, races, registers, waits";

/// Reads "waits,races". False: some name does not exist.
[[nodiscard]] bool parse_checks(std::string_view text, Checks& checks);

}  // namespace monojit::emulator
