#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <sys/types.h>

namespace monojit::cache {

/// The process that holds a lock, as it wrote it into the lock's file: what a waiter can tell, and nothing that decides
/// who holds it.
struct LockHolder {
  pid_t process = 0;
  /// Whether `process` is a number that means the same process here: the holder runs on this machine, under this start
  /// of it, and in this namespace of process ids.
  bool is_here = false;

  /// "process 4711", or "process 4711 of another machine or container"
  std::string text() const;
  /// A holder that was stopped (SIGSTOP, a debugger) may never go on. Only known of one that is here.
  bool is_stopped() const;
};

/// Overwrites the locked file with who this process is. A file that can't be written says nothing; the lock holds.
void write_holder(int descriptor);

/// Nothing when the file is gone or says nothing yet.
std::optional<LockHolder> read_holder(const std::filesystem::path& file);

}  // namespace monojit::cache
