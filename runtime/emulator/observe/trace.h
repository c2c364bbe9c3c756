// When which workgroup and wave ran, waited, slept or polled, in virtual time.
//
// A wave's time advances by one with every instruction it executes; waves run side by side. A barrier lets all of a
// workgroup's waves go on at the time of its last one. A round of the scheduler, in which every resident workgroup has
// its turn, ends with the workgroup that took longest, and a sleeping wave wakes with the next round.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/emulator/schedule/workgroup.h"

namespace monojit::emulator {

enum class SpanKind : u8 {
  kResident,  ///< of a workgroup
  kRun,
  kBarrier,  ///< waiting for the other waves
  kSleep,    ///< one s_sleep
  kPoll,     ///< a loop that came back to the same s_sleep, round after round
  kYield,    ///< its turn was over before it did anything to wait for
};

inline constexpr u32 kNoWave = ~u32{0};

struct TraceSpan {
  SpanKind kind = SpanKind::kRun;
  u32 wave = kNoWave;  ///< in its workgroup; kNoWave: the whole workgroup
  u32 place = 0;       ///< index of the workgroup's TracePlace
  u64 begin = 0;
  u64 length = 0;
  u64 address = 0;  ///< kSleep, kPoll, kBarrier: of the instruction behind, in the code object
};

struct TracePlace {
  std::array<u32, 3> id{};
  u64 number = 0;
  u32 device = 0, xcd = 0, cu = 0;
  bool ended = false;
};

struct TracedLaunch {
  std::string kernel;
  u64 begin = 0, end = 0;
  u64 rounds = 0;
  u64 dropped = 0;  ///< spans that were too many
  std::vector<TracePlace> places;
  std::vector<TraceSpan> spans;
};

/// Launches until it is taken. Those that run together share its time.
class Trace {
 public:
  /// When a launch that starts now begins: with the others that run, or a little behind the last one.
  u64 begin_launch();
  void end_launch(TracedLaunch launch);

  /// When the running round began.
  [[nodiscard]] u64 round_begin() const;
  /// Something was still going on then.
  void note_time(u64 time);
  void end_round();

  /// What has ended.
  [[nodiscard]] std::vector<TracedLaunch> take();

 private:
  mutable std::mutex mutex_;
  std::vector<TracedLaunch> launches_;
  u32 running_ = 0;
  u64 round_begin_ = 0;
  u64 latest_ = 0;
  bool fresh_ = true;  ///< no launch has begun yet
};

/// What one launch tells. Workgroups may be reported by several threads, each by one at a time.
class LaunchRecorder {
 public:
  LaunchRecorder(Trace& trace, const Program& program);
  /// Finishes the launch if that was not done.
  ~LaunchRecorder();
  LaunchRecorder(const LaunchRecorder&) = delete;
  LaunchRecorder& operator=(const LaunchRecorder&) = delete;

  void visit(const Workgroup& group);
  /// The wave ran until its state changed, and executed that many instructions.
  void ran(const Workgroup& group, const Wave& wave, u64 instructions);
  void barrier_opened(const Workgroup& group);
  void ended(const Workgroup& group);
  /// Adds the launch to the trace; workgroups that have not ended stay open to its end.
  void finish(u64 rounds);

 private:
  /// What a wave is in the middle of.
  struct WaveTrack {
    u64 time = 0;
    bool waiting = false;
    SpanKind kind = SpanKind::kRun;  ///< of the wait
    u64 begin = 0;                   ///< of the wait
    const MicroOp* resume = nullptr;
  };
  /// A workgroup, or the room that one has left.
  struct GroupTrack {
    u32 place = 0;
    u64 begin = 0;
    u64 ended = 0;                 ///< when the one before left, if there are no waves
    std::vector<WaveTrack> waves;  ///< empty: no workgroup
  };

  void begin(GroupTrack& track, const Workgroup& group);
  void close_wait(const GroupTrack& track, u32 wave, u64 end);
  void add_span(const TraceSpan& span);

  Trace& trace_;
  const Program& program_;
  std::mutex mutex_;
  TracedLaunch launch_;
  bool finished_ = false;
  std::unordered_map<const Workgroup*, GroupTrack> tracks_;
};

}  // namespace monojit::emulator
