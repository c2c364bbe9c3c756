// The processes that share device memory with this one (IPC handles): whether they live, and whether their kernels make
// progress. Each process has a page of memory that the others read; nothing of it has a name in a file system.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/emulator/schedule/outside.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// A process of this machine, not to be mistaken for a later one with the same number.
struct ProcessId {
  i32 pid = 0;
  u64 start = 0;  ///< in clock ticks since the machine started

  bool operator==(const ProcessId&) const = default;
  [[nodiscard]] static ProcessId own();
  enum class Life : u8 { kEnded, kStopped, kAsleep, kRunning };
  /// A zombie has ended; one that a signal or a debugger stopped may go on; the main thread of one that is asleep waits
  /// for something.
  [[nodiscard]] Life life() const;
  /// What all its threads have used of the processors, in nanoseconds; nothing if it is gone.
  [[nodiscard]] std::optional<i64> processor_time() const;
  [[nodiscard]] bool alive() const { return life() != Life::kEnded; }
  /// Opens a file descriptor of that process. Throws Failure (kInvalidValue) if it is gone or may not be looked into.
  [[nodiscard]] int open_descriptor(int descriptor) const;
};

class ProcessGroup {
 public:
  ProcessGroup();
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  /// The descriptor of this process's page, for handles.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Shares memory with that process from now on. Throws Failure (kInvalidValue).
  void join(const ProcessId& process, int descriptor);

  // What the others are told.
  void note_working();
  void note_idle(Outside own, bool for_time);
  void note_no_kernels();
  /// Whether a device's work has failed, and no launch succeeded there since.
  void note_failed(bool failed);
  void note_jump(u64 ticks);

  /// What the others may still do, seen from a process whose own kernels all wait.
  Outside look();
  /// How far time jumped in other processes beyond this one's own jumps; counts as jumped here from then on.
  u64 jumped_elsewhere();
  /// Names the processes that have ended.
  [[nodiscard]] std::string describe() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Page;
  struct Peer {
    ProcessId id;
    Page* page = nullptr;
    ProcessId::Life life = ProcessId::Life::kRunning;
    u64 progress = 0;     ///< when this process's waiting began
    u64 idle_rounds = 0;  ///< the same
    u64 jump_base = 0;    ///< its jumps less this process's, when they met
    std::optional<i64> processor_time{};
    Clock::time_point quiet_since{};  ///< no thread of it ran since
  };

  void add(const ProcessId& process, int descriptor);
  void refresh();
  [[nodiscard]] Outside state_of(Peer& peer, bool restart) const;
  [[nodiscard]] static Outside without_kernels(const Peer& peer);

  mutable std::mutex mutex_;
  int descriptor_ = -1;
  Page* page_ = nullptr;
  ProcessId own_;
  std::vector<Peer> peers_;
  Clock::time_point refreshed_;
  bool waiting_ = false;  ///< the peers' counts were taken
};

}  // namespace monojit::emulator
