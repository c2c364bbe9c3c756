#include "tools/group_chain.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/kimi_k3/k2/reference/compare.h"
#include "kernels/kimi_k3/k2/reference/generate.h"
#include "kernels/kimi_k3/k2/reference/reference.h"
#include "runtime/hip/device_error.h"
#include "runtime/peak_memory.h"
#include "tools/failed_place.h"
#include "tools/interruptible.h"
#include "tools/progress_clock.h"
#include "tools/report.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;
using kernels::reference::bf16_bits;
using kernels::reference::bf16_value;
using kernels::reference::BFloat16Bits;

constexpr int kReplaysInFlight = 4;
constexpr int kPeerHalves = 2;                                  // a step uses the one that the step before it does not
constexpr std::uint64_t kReplaySeeds = std::uint64_t{1} << 32;  // of rows that no launch made one by one has

void add_rows(std::span<BFloat16Bits> to, std::span<const BFloat16Bits> from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = bf16_bits(bf16_value(to[i]) + bf16_value(from[i]));
}

/// What is left of the last launch of a step that as many steps followed.
std::optional<GroupReplay::Left> left_behind(std::int32_t steps) {
  if (steps >= kPeerHalves) return std::nullopt;
  return steps == 0 ? GroupReplay::Left::kAll : GroupReplay::Left::kPeerHalf;
}

void write_block(const K2Key& key, const RankMemory& rank) {
  const auto prefix = rank.of<BFloat16Bits>("prefix");
  const auto blocks = rank.of<BFloat16Bits>("blocks");
  const auto token_pitch = static_cast<std::size_t>(rank.of<std::int32_t>("blk_sm")[0]);
  const auto block_pitch = static_cast<std::size_t>(rank.of<std::int32_t>("blk_sr")[0]);
  for (std::size_t token = 0; token < static_cast<std::size_t>(key.tokens); ++token) {
    const std::size_t place = token * token_pitch + static_cast<std::size_t>(key.nblocks - 1) * block_pitch;
    std::ranges::copy(prefix.subspan(token * kHidden, kHidden), blocks.subspan(place).begin());
  }
}

}  // namespace

GroupChain::GroupChain(runtime::Jit& jit, KimiGroup& group, std::vector<PlannedLaunch> plan, std::uint64_t seed,
                       kernels::reference::MatrixModel model, TimelineTrace& trace)
    : jit_(jit),
      group_(group),
      plan_(std::move(plan)),
      seed_(seed),
      model_(model),
      trace_(trace),
      experts_(group, seed, model) {
  for (const PlannedLaunch& launch : plan_) watched_.push_back({launch.build, launch.slot});
}

void GroupChain::prepare() {
  for (const PlannedLaunch& launch : plan_) {
    Loaded& loaded = kernels_.emplace_back();
    for (std::size_t rank = 0; rank < kRanks; ++rank) loaded.push_back(jit_.prepare(launch.build, group_.device(rank)));
  }
}

std::size_t GroupChain::begin(std::int32_t epoch, const std::set<std::string>& given) {
  epoch_ = epoch;
  experts_.keep(given);
  group_.set_launch(epoch, plan_.front().slot);
  return experts_.fill(plan_.front().key, group_.memory());
}

void GroupChain::begin_again() { epoch_ += steps(); }

void GroupChain::front_half(const K2Key& key) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankMemory& tensors = group_.memory()[static_cast<std::size_t>(rank)];
    generate_tensor(key, seed_ + launched_, rank, tensors.view("core"));
    if (key.reduce) add_rows(tensors.of<BFloat16Bits>("prefix"), tensors.of<BFloat16Bits>("out"));
    if (key.reset) write_block(key, tensors);
  }
}

std::optional<LaunchFailure> GroupChain::launch(std::size_t index, bool verify, LaunchResult& result) {
  const PlannedLaunch& planned = plan_[index];
  result.place = place_of(epoch_ + planned.step, planned.slot);
  group_.set_launch(epoch_ + planned.step, planned.slot);
  if (launched_ > 0) {
    front_half(planned.key);
    experts_.fill(planned.key, group_.memory());
  }
  ++launched_;
  for (std::size_t rank = 0; rank < kRanks; ++rank) std::ranges::fill(group_.rank(rank).stamps(), 0);
  std::optional<GroupExpectation> expected;
  if (verify) expected.emplace(planned.key, group_.memory(), model_);

  const runtime::EmulatorCounter counter(group_.device(0).hip());
  const Stopwatch watch;
  std::string error;
  try {
    group_.launch(kernels_[index]);
  } catch (const runtime::DeviceError& failed) {
    error = failed.what();
  }
  result.run_ms = watch.ms();
  result.emulator = counter.counts();
  if (trace_.on()) {
    std::vector<std::span<const std::int64_t>> stamps;
    for (std::size_t rank = 0; rank < kRanks; ++rank) stamps.emplace_back(group_.rank(rank).stamps());
    trace_.add(place_text(result.place), stamps, true);
  }
  if (auto failure = failure_of(error)) return failure;
  if (expected) result.outputs = expected->compare(group_.memory());
  return std::nullopt;
}

// A launch that does not reduce leaves its result in its half of the peer buffers alone.
int GroupChain::replays_in_flight() const {
  return plan_.back().key.reduce ? kReplaysInFlight : std::max(kPeerHalves / steps(), 1);
}

// Those that are on their way together have other rows than their neighbours: what one of the replays before left must
// not be taken for its own result.
std::deque<GroupReplay> GroupChain::replays(int count, bool verify) {
  std::deque<GroupReplay> replays;
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    GroupReplay& replay = replays.emplace_back(
        group_, plan_, i == 0 ? std::nullopt : std::optional<std::uint64_t>(seed_ + kReplaySeeds + number));
    replay.prepare(experts_, model_, verify);
    replay.capture(jit_);
  }
  return replays;
}

std::optional<LaunchFailure> GroupChain::replay(int times, bool verify, ReplayResult& result) {
  std::deque<GroupReplay> in_flight = replays(std::min(times, replays_in_flight()), verify);
  group_.set_launch(epoch_ - 1, plan_.front().slot);  // the first step counts it on
  const Stopwatch watch;
  ProgressClock clock;
  while (result.count < times && result.difference.empty() && !Interruptible::interrupted()) {
    const auto count = std::min(in_flight.size(), static_cast<std::size_t>(times - result.count));
    if (auto failure = replay_together(in_flight, count, result)) return failure;
    result.run_ms = watch.ms();
    if (clock.is_due()) say(progress_text(result, times));
  }
  epoch_ += result.count * steps();
  return std::nullopt;
}

// Each one has its turn to be the last, whose hand-offs are still there.
std::optional<LaunchFailure> GroupChain::replay_together(std::deque<GroupReplay>& replays, std::size_t count,
                                                         ReplayResult& result) {
  const std::size_t turns = static_cast<std::size_t>(result.count) / replays.size();
  const auto nth = [&](std::size_t i) -> GroupReplay& { return replays[(turns + i) % replays.size()]; };
  std::string error;
  try {
    for (std::size_t i = 0; i < count; ++i) nth(i).restore();
    for (std::size_t i = 0; i < count; ++i) nth(i).launch();
    group_.synchronize();
  } catch (const runtime::DeviceError& failed) {
    error = failed.what();
  }
  const std::int32_t epoch = latest_epoch();
  result.place = place_of(epoch, plan_.back().slot);
  if (auto failure = failure_of(error)) {
    if (auto place = failed_place(group_.health(), watched_, epoch)) result.place = *std::move(place);
    return failure;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto behind = static_cast<std::int32_t>(count - 1 - i) * steps();
    const std::string difference = nth(i).compare(epoch - behind, left_behind(behind), result.outputs);
    if (!difference.empty() && result.difference.empty())
      result.difference = fmt::format("replay {}: {}", result.count + static_cast<int>(i) + 1, difference);
  }
  result.count += static_cast<int>(count);
  if (result.first_resident_bytes == 0) result.first_resident_bytes = runtime::resident_memory();
  result.last_resident_bytes = runtime::resident_memory();
  return std::nullopt;
}

// Ranks that a failed launch ended for may be behind.
std::int32_t GroupChain::latest_epoch() const {
  std::int32_t latest = 0;
  for (const RankMemory& rank : group_.memory()) latest = std::max(latest, rank.of<std::int32_t>("epoch")[0]);
  return latest;
}

std::optional<LaunchFailure> GroupChain::failure_of(const std::string& error) const {
  std::optional<std::string> health = group_.explain(watched_, facts_from(epoch_));
  if (error.empty() && !health) return std::nullopt;
  return LaunchFailure{.error = error, .health = std::move(health).value_or("")};
}

}  // namespace monojit::tools
