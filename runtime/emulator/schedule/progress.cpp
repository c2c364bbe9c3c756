#include "runtime/emulator/schedule/progress.h"

#include "runtime/emulator/memory/memory_model.h"

namespace monojit::emulator {
namespace {

constexpr u64 kTicksASecond = 100'000'000;  // of the 100 MHz clock
constexpr u64 kRoundsBeforeJump = 4;
constexpr u32 kMostLooks = 64;

u64 mix(u64 digest, u64 value) { return (digest ^ value) * 0x9e3779b97f4a7c15ull ^ digest >> 29; }

u64 digest_of(const Wave& wave, const LaunchContext& launch) {
  // Four chains: the multiplications of one would wait for each other.
  u64 chains[4] = {reinterpret_cast<u64>(wave.resume), 1, 2, 3};
  const u64 bytes = launch.register_bytes / 32 * 32;
  for (u64 offset = 0; offset < bytes; offset += 32) {
    for (u32 i = 0; i < 4; ++i) chains[i] = mix(chains[i], wave.pair(static_cast<u32>(offset + 8 * i)));
  }
  return mix(mix(chains[0], chains[1]), mix(chains[2], chains[3]));
}

/// Registers and places of all waves that `counts` wants. A sum over workgroups: seeds visit them in ever new orders.
template <class Counts>
u64 digest_of(std::span<const Visit> visits, Counts counts) {
  u64 sum = 0;
  for (const auto& [grid, group] : visits) {
    u64 digest = mix(reinterpret_cast<u64>(grid), group->number);
    for (const Wave& wave : group->waves) {
      if (counts(wave)) digest = mix(digest, digest_of(wave, grid->launch()));
    }
    sum += mix(digest, 1);
  }
  return sum;
}

/// Of the waves that used up their budget: they cost more to run than to look at.
u64 digest_of_loops(std::span<const Visit> visits) {
  return digest_of(visits, [](const Wave& wave) { return wave.state == WaveState::kYielded; });
}
/// Of all that have not ended.
u64 digest_of_all(std::span<const Visit> visits) {
  return digest_of(visits, [](const Wave& wave) { return wave.state != WaveState::kEnded; });
}

}  // namespace

/// Waves that used up their budget or came to a barrier, and are neither where they were the round before nor asking
/// the time over and over.
bool ProgressWatch::any_computing(std::span<const Visit> visits) {
  bool any = false;
  for (const auto& [grid, group] : visits) {
    for (Wave& wave : group->waves) {
      const bool moves = wave.state == WaveState::kYielded || wave.state == WaveState::kAtBarrier;
      if (!moves || wave.watches_clock) continue;
      const u64 digest = digest_of(wave, grid->launch());
      any |= digest != wave.digest;
      wave.digest = digest;
    }
  }
  return any;
}

bool ProgressWatch::idle_round(std::span<const std::unique_ptr<Worker>> workers, std::atomic<u64>& clock,
                               MemoryModel* model) {
  u64 writes = 0, clock_reads = 0;
  for (const auto& worker : workers) writes += worker->memory_writes, clock_reads += worker->clock_reads;
  bool idle = !progress_.exchange(false) && writes == writes_;
  if (model != nullptr && model->end_round(idle)) idle = false;
  asked_the_time_ = clock_reads != clock_reads_;
  writes_ = writes;
  clock_reads_ = clock_reads;
  clock.fetch_add(1, std::memory_order_relaxed);
  return idle;
}

ProgressWatch::Verdict ProgressWatch::finish_round(std::span<const std::unique_ptr<Worker>> workers,
                                                   std::span<const Visit> visits, std::atomic<u64>& clock,
                                                   MemoryModel* model, OutsideWorld* world, bool held) {
  const bool idle = idle_round(workers, clock, model);
  if (!idle || held) {
    restart();
    if (world != nullptr) world->note_progress();
    return idle ? Verdict::kHeld : Verdict::kProgress;
  }
  return finish_idle_round(visits, clock, world);
}

ProgressWatch::Verdict ProgressWatch::finish_idle_round(std::span<const Visit> visits, std::atomic<u64>& clock,
                                                        OutsideWorld* world) {
  const Outside outside = world == nullptr ? Outside::kNobody : world->look(asked_the_time_);
  if (world != nullptr) clock.fetch_add(world->jumped_elsewhere(), std::memory_order_relaxed);
  if (outside == Outside::kPerhaps || outside == Outside::kWorking) {
    const auto now = Clock::now();
    if (outside == Outside::kPerhaps && idle_since_ != Clock::time_point{}) {
      const std::chrono::duration<double> passed = now - idle_since_;
      clock.fetch_add(static_cast<u64>(passed.count() * static_cast<double>(kTicksASecond)), std::memory_order_relaxed);
    }
    idle_since_ = now;
    idle_rounds_ = 0;
    next_check_ = 1;
    return Verdict::kIdle;
  }
  ++idle_rounds_;
  if (asked_the_time_ && idle_rounds_ >= kRoundsBeforeJump && !any_computing(visits)) {
    clock.fetch_add(kTicksASecond, std::memory_order_relaxed);
    if (world != nullptr) world->note_jump(kTicksASecond);
  }
  if (outside == Outside::kTime) {
    next_check_ = idle_rounds_ + 1;
    return Verdict::kIdle;
  }
  return repeats(visits) ? Verdict::kDeadlock : Verdict::kIdle;
}

/// Whether all waves are where they were in an earlier idle round. Rounds 1, 4, 16 ... are kept, and those that follow
/// compared with the latest kept one: a loop inside a loop may use up its budget in another place each time.
bool ProgressWatch::repeats(std::span<const Visit> visits) {
  if (idle_rounds_ == next_check_) {
    next_check_ *= 4;
    looks_ = 0;
    digest_of_loops_ = digest_of_loops(visits);
    digest_ = digest_of_all(visits);
    return false;
  }
  if (looks_ == kMostLooks || digest_of_loops(visits) != digest_of_loops_) return false;
  ++looks_;
  return digest_of_all(visits) == digest_;
}

}  // namespace monojit::emulator
