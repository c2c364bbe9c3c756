// A launch on its way: which workgroups have begun and ended, and what they did.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/emulator/execute/segment_profile.h"
#include "runtime/emulator/failure.h"
#include "runtime/emulator/observe/trace.h"
#include "runtime/emulator/schedule/launch.h"
#include "runtime/emulator/schedule/placement.h"
#include "runtime/emulator/schedule/workgroup.h"

namespace monojit::emulator {

class Grid {
 public:
  /// `launch_memory` is emulated memory for arguments and dispatch packet (kLaunchMemoryBytes); `arena` has room for
  /// all workgroups that can be resident. Both are the grid's until it has ended. `variant`: of the program.
  Grid(LaunchRequest request, const ChipLimits& chip, u8* launch_memory, std::unique_ptr<BlockArena> arena, u32 workers,
       ProgramVariant variant);

  [[nodiscard]] const LaunchContext& launch() const { return launch_; }
  [[nodiscard]] const LaunchRequest& request() const { return request_; }
  [[nodiscard]] const Demand& demand() const { return demand_; }
  [[nodiscard]] BlockArena& arena() { return *arena_; }

  // Dispatch; the caller serialises these.
  /// The XCD's next workgroup, if it has any left.
  [[nodiscard]] bool has_next(u32 xcd) const { return !stopped() && next_[xcd] < total_; }
  /// Fills in the XCD's next workgroup.
  void take_next(const Place& place, Workgroup& group);
  void note_end() { ++ended_; }
  [[nodiscard]] u64 total() const { return total_; }
  [[nodiscard]] u64 never_started() const { return total_ - admitted_; }
  [[nodiscard]] bool ended() const { return stopped() || ended_ == total_; }

  /// Keeps the first failure and stops the grid. From any thread.
  void fail(const Failure& failure);
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// After the end: null if all went well.
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }

  /// Adds what a worker counted for this grid since its counters were cleared.
  void add(u32 worker, const Worker& counted);
  void add_round() { ++rounds_; }
  /// Since the launch began, on this machine's clock.
  [[nodiscard]] double seconds() const;

  /// Where a worker counts straight runs; null if the launch is not profiled.
  [[nodiscard]] SegmentProfile* segments(u32 worker) { return segments_.empty() ? nullptr : &segments_[worker]; }
  /// Null if the launch is not traced.
  [[nodiscard]] LaunchRecorder* recorder() { return recorder_ ? &*recorder_ : nullptr; }
  /// Hands what was observed to the profile and the trace. After the end.
  void tell_observers();
  [[nodiscard]] LaunchReport report() const;

 private:
  friend class Scheduler;

  LaunchRequest request_;
  LaunchContext launch_;
  Demand demand_;
  u8* launch_memory_;
  std::unique_ptr<BlockArena> arena_;
  u64 total_;
  u64 admitted_ = 0;
  u64 ended_ = 0;
  std::vector<u64> next_;  ///< of each XCD's share, the first workgroup that has not become resident
  std::atomic<bool> stopped_{false};
  std::mutex failure_mutex_;
  std::optional<Failure> failure_;
  std::vector<WorkCounts> tallies_;       ///< one a worker
  std::vector<SegmentProfile> segments_;  ///< one a worker
  std::optional<LaunchRecorder> recorder_;
  u64 rounds_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

inline constexpr u64 kLaunchMemoryBytes = 64 * 1024;

}  // namespace monojit::emulator
