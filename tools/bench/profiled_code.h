#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report.h"

namespace monojit::tools {

/// What a memory instruction asks of the caches: how the kernels tell memories apart.
enum class Traffic : std::uint8_t {
  kNone,
  kStreamed,  ///< loads marked `nt`: weights that are read once
  kCached,    ///< loads without a mark, scalar ones too
  kDevice,    ///< loads of device scope (`sc1`): hand-offs inside a rank, behind the XCDs' L2
  kSystem,    ///< loads of system scope (`sc0 sc1`): what other ranks push
  kStored,    ///< stores of less than system scope
  kPushed,    ///< stores of system scope
  kLdsLoaded,
  kLdsStored,
};
inline constexpr std::size_t kTrafficKinds = static_cast<std::size_t>(Traffic::kLdsStored) + 1;

/// One instruction of a profiled kernel.
struct CodeLine {
  std::uint64_t address = 0;
  std::string mnemonic;
  std::string source;        ///< file without folders and ending; empty: unknown
  std::string source_class;  ///< the emulator's: "vector", "mfma", ..
  std::uint64_t executions = 0;
  std::uint64_t out_of_range = 0;          ///< executions that moved nothing, as all lanes lay behind the buffer's end
  std::optional<std::size_t> target = {};  ///< line that a branch goes to
  std::optional<int> vmcnt = {};           ///< of a wait: vector memory operations that may stay in flight
  bool retry = false;                      ///< in the loop of a wait that looks again
  Traffic traffic = Traffic::kNone;
  int bytes = 0;  ///< of a wave with all lanes active
};

/// A kernel of the emulator's profile (runtime/emulator/emulator.h), in the order of addresses.
std::vector<CodeLine> profiled_code(const Json& kernel);

/// Whether execution can go on with the next line.
bool falls_through(const CodeLine& line);

}  // namespace monojit::tools
