#pragma once

#include <filesystem>

#include "runtime/hip/table.h"

/// `--trace` of the subcommands that launch on the emulator: when which workgroup and wave ran and waited.
namespace monojit::tools {

/// Traces launches from its making on.
class TracedLaunches {
 public:
  /// An empty `file` asks for no trace. Throws UserError when `hip` is no emulator or the file can't be written.
  TracedLaunches(const runtime::HipTable& hip, std::filesystem::path file);
  ~TracedLaunches();
  TracedLaunches(const TracedLaunches&) = delete;
  TracedLaunches& operator=(const TracedLaunches&) = delete;

  /// Writes what was traced so far. Throws UserError when the file can't be written.
  void write();

 private:
  const runtime::HipTable& hip_;
  std::filesystem::path file_;
};

}  // namespace monojit::tools
