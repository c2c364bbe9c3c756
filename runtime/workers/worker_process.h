#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <sys/types.h>

#include "cache/deadline.h"
#include "runtime/workers/frame.h"
#include "runtime/workers/worker_folder.h"

namespace monojit::runtime {

/// This process may have no more of what a worker takes: descriptors, processes, memory. Later, or with fewer workers,
/// it may.
class WorkerStartError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One child process that builds. For one thread at a time.
class WorkerProcess {
 public:
  /// Starts `program`, which may allocate `memory_bytes`; its TMPDIR is a folder of its own, removed with it. Throws
  /// UserError when it can't be started at all, WorkerStartError when not now.
  WorkerProcess(const std::filesystem::path& program, std::uint64_t memory_bytes);
  /// Kills it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// False when the process has ended.
  bool send(const Frame& frame);
  /// The next frame; nothing when the process ended, spoke nonsense, or when `deadline` is over, which tells them
  /// apart. `check` is called many times a second; what it throws goes through.
  std::optional<Frame> receive(cache::Deadline& deadline, const std::function<void()>& check);

  /// Kills and reaps it, and says how it ended: "was killed by signal 9 (Killed)", and what it said last.
  std::string end();
  pid_t process() const { return process_; }

 private:
  void read_errors();

  WorkerFolder folder_;
  pid_t process_ = -1;
  int socket_ = -1;
  int errors_ = -1;  ///< its standard error
  FrameReader frames_;
  std::string last_words_;
};

}  // namespace monojit::runtime
