#include "runtime/emulator/schedule/progress.h"

namespace monojit::emulator {
namespace {

constexpr u64 kClockJump = 100'000'000;  // one second of the 100 MHz clock
constexpr u64 kRoundsBeforeJump = 4;

u64 mix(u64 digest, u64 value) { return (digest ^ value) * 0x9e3779b97f4a7c15ull ^ digest >> 29; }

/// Registers and places of all waves that have not ended.
u64 digest_of(std::span<Workgroup* const> groups, const LaunchContext& launch) {
  u64 digest = 1;
  for (const Workgroup* group : groups) {
    digest = mix(digest, group->number);
    for (const Wave& wave : group->waves) {
      if (wave.state == WaveState::kEnded) continue;
      digest = mix(digest, reinterpret_cast<u64>(wave.resume));
      for (u64 offset = 0; offset < launch.register_bytes; offset += 8) {
        digest = mix(digest, wave.pair(static_cast<u32>(offset)));
      }
    }
  }
  return digest;
}

bool any_computing(std::span<Workgroup* const> groups) {
  for (const Workgroup* group : groups) {
    for (const Wave& wave : group->waves) {
      if (wave.state == WaveState::kYielded) return true;
    }
  }
  return false;
}

}  // namespace

bool ProgressWatch::finish_round(std::span<const Worker> workers, std::span<Workgroup* const> groups,
                                 const LaunchContext& launch, std::atomic<u64>& clock) {
  u64 writes = 0, clock_reads = 0;
  for (const Worker& worker : workers) writes += worker.memory_writes, clock_reads += worker.clock_reads;
  const bool idle = !progress_.exchange(false) && writes == writes_;
  const bool asked_the_time = clock_reads != clock_reads_;
  writes_ = writes;
  clock_reads_ = clock_reads;
  clock.fetch_add(1, std::memory_order_relaxed);
  if (!idle) {
    idle_rounds_ = 0;
    next_check_ = 1;
    return false;
  }
  ++idle_rounds_;
  if (asked_the_time && idle_rounds_ >= kRoundsBeforeJump && !any_computing(groups))
    clock.fetch_add(kClockJump, std::memory_order_relaxed);
  // Pairs of neighbouring rounds are compared, ever more rarely: 1 and 2, 4 and 5, 16 and 17.
  if (idle_rounds_ == next_check_) {
    digest_ = digest_of(groups, launch);
  } else if (idle_rounds_ == next_check_ + 1) {
    next_check_ *= 4;
    return digest_of(groups, launch) == digest_;
  }
  return false;
}

}  // namespace monojit::emulator
