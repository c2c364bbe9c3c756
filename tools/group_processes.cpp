#include "tools/group_processes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/error.h"
#include "kernels/common/rank_reasons.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/kimi_k3/k2/reference/compare.h"
#include "kernels/kimi_k3/k2/reference/generate.h"
#include "runtime/group_health.h"
#include "runtime/hip/device_error.h"
#include "tools/group_plan.h"
#include "tools/kimi_rank.h"
#include "tools/launch_chain.h"
#include "tools/rank_processes.h"
#include "tools/session.h"
#include "tools/shared_memory.h"
#include "tools/stalled_ranks.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;

constexpr const char* kArch = "gfx950";
constexpr std::string_view kReady = "ready";
constexpr std::string_view kDone = "done";

/// What a rank's process leaves for its parent, in shared memory.
struct RankReport {
  std::array<char, 64> device{};
  std::array<char, 256> device_name{};
  std::array<char, 32> matrix_model{};
  std::array<char, 2048> error{};  ///< of its launch
  double load_ms = 0;
  double run_ms = 0;
  runtime::EmulatorCounts counts;
  bool downloaded = false;  ///< its results are in the group's memory
};

template <std::size_t N>
void keep(std::array<char, N>& to, std::string_view text) {
  const auto length = std::min(text.size(), N - 1);
  std::memcpy(to.data(), text.data(), length);
  to[length] = '\0';
}

/// The ranks' tensors and reports, shared with their processes.
class SharedGroup {
 public:
  explicit SharedGroup(const K2Key& key) : memory_(bytes_of(key)) {
    for (RankMemory& rank : group_) {
      for (const TensorShape& shape : rank_shapes(key)) {
        rank.add({std::string(shape.name), shape.dtype, shape.extents, memory_.take(bytes_of(shape))});
      }
    }
    reports_ = reinterpret_cast<RankReport*>(memory_.take(sizeof(RankReport) * kRanks).data());
    for (int rank = 0; rank < kRanks; ++rank) report(rank) = RankReport();
  }

  const GroupMemory& memory() const { return group_; }
  const RankMemory& rank(int number) const { return group_[static_cast<std::size_t>(number)]; }
  RankReport& report(int number) const { return reports_[number]; }

  /// Copies to the device what there is; weights of experts that no token picks are not.
  void upload(int number, const KimiRank& to) const {
    const runtime::HipTable& hip = to.device().hip();
    to.device().select();
    for (const TensorView& tensor : rank(number).views()) {
      std::byte* const device = to.memory().view(tensor.name).bytes.data();
      for (const auto& part : memory_.touched(tensor.bytes)) {
        hip.check(hip.hipMemcpy(device + (part.data() - tensor.bytes.data()), part.data(), part.size(),
                                hipMemcpyHostToDevice),
                  "hipMemcpy");
      }
    }
  }

 private:
  static constexpr std::size_t kSlack = std::size_t{1} << 20;  // pages that are not full

  static std::size_t bytes_of(const TensorShape& shape) {
    return kernels::reference::element_count(shape.extents) * kernels::reference::element_bytes(shape.dtype);
  }
  static std::size_t bytes_of(const K2Key& key) {
    std::size_t bytes = kSlack;
    for (const TensorShape& shape : rank_shapes(key)) bytes += bytes_of(shape);
    return bytes * kRanks;
  }

  SharedMemory memory_;
  GroupMemory group_;
  RankReport* reports_ = nullptr;
};

/// What the ranks' processes say to each other, within a bound.
class Exchange {
 public:
  Exchange(const runtime::Gather& gather, std::chrono::milliseconds bound) : gather_(gather), bound_(bound) {}

  const runtime::Gather& gather() const { return gather_; }
  std::chrono::milliseconds bound() const { return bound_; }
  /// All ranks' texts; that of one that has ended is empty.
  std::vector<RankProcesses::Message> texts(std::string_view own) const {
    return gather_(std::as_bytes(std::span(own)), bound_);
  }
  /// All ranks are where this one is; throws when one has ended.
  void meet(std::string_view word) const {
    kernels::RankReasons ended;
    const auto messages = texts(word);
    for (std::size_t rank = 0; rank < messages.size(); ++rank) {
      if (messages[rank].empty()) ended.add(static_cast<int>(rank), "its process has ended");
    }
    if (!ended.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(ended.texts(), "\n")));
  }

 private:
  const runtime::Gather& gather_;
  std::chrono::milliseconds bound_;
};

/// Prepares the kernel, and throws on every rank when one could not, or has another than the others.
std::shared_ptr<const runtime::LoadedKernel> prepare(runtime::Jit& jit, const kernels::BuildKey& key,
                                                     const runtime::Device& device, const Exchange& exchange) {
  const std::string own = to_json_text(jit.try_warm(std::span(&key, 1), device));
  std::vector<runtime::Verdict> verdicts;
  for (const RankProcesses::Message& message : exchange.texts(own)) {
    const std::string_view text(reinterpret_cast<const char*>(message.data()), message.size());
    runtime::Verdict& verdict = verdicts.emplace_back();
    if (message.empty()) {
      verdict.reasons = {"its process has ended"};
    } else {
      verdict = runtime::verdict_from_json(text);
    }
  }
  const std::vector<std::string> reasons = runtime::disagreements(verdicts);
  if (!reasons.empty()) throw std::runtime_error(fmt::format("{}", fmt::join(reasons, "\n")));
  return jit.prepare(key, device);
}

/// The launch's own failure is told in the report, not thrown: what it left is still worth a look.
void launch(const KimiRank& rank, const runtime::LoadedKernel& kernel, const RankMemory& host, RankReport& report) {
  const runtime::EmulatorCounter counter(rank.device().hip());
  const Stopwatch watch;
  try {
    kernel.launch(rank.arguments(host).values(), rank.stream());
    rank.synchronize();
  } catch (const runtime::DeviceError& error) {
    keep(report.error, error.what());
  }
  report.run_ms = watch.ms();
  report.counts = counter.counts().value_or(runtime::EmulatorCounts());
}

void run_rank(int number, runtime::Jit& jit, const kernels::BuildKey& key, const SharedGroup& shared,
              const Exchange& exchange) {
  RankReport& report = shared.report(number);
  stall_own_workgroups(number);
  const runtime::Device device = open_device("emulator", kArch);
  keep(report.device, device.text());
  keep(report.device_name, runtime::emulator_description(device.hip()));
  keep(report.matrix_model, runtime::emulator_matrix_model(device.hip()));
  const auto group = runtime::PeerGroup::across_processes(device, number, key.family().peer_state(key),
                                                          exchange.gather(), exchange.bound());
  const KimiRank rank(group.ranks().front(), k2_key(key));
  const Stopwatch watch;
  const auto kernel = prepare(jit, key, device, exchange);
  report.load_ms = watch.ms();
  exchange.meet(kReady);  // behind this the tensors are there
  shared.upload(number, rank);
  exchange.meet("uploaded");  // nobody pushes to a buffer that is still to be filled
  launch(rank, *kernel, shared.rank(number), report);
  (void)exchange.texts(kDone);  // a rank that died may have left others' buffers incomplete: they tell
  rank.download(shared.rank(number));
  report.downloaded = true;
  (void)exchange.texts(kDone);  // nobody frees what another still has mapped
}

bool all_say(std::span<const RankProcesses::Message> messages, std::string_view word) {
  return std::ranges::all_of(messages, [&](const RankProcesses::Message& message) {
    return std::ranges::equal(message, std::as_bytes(std::span(word)));
  });
}

std::optional<LaunchFailure> failure_of(const kernels::BuildKey& key, const SharedGroup& shared,
                                        const RankProcesses& processes) {
  kernels::RankReasons errors;
  std::vector<std::vector<std::uint32_t>> health(kRanks);
  std::vector<std::uint32_t> alarms;
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankReport& report = shared.report(rank);
    if (report.error[0] != '\0') errors.add(rank, report.error.data());
    if (!processes.failure(rank).empty()) errors.add(rank, processes.failure(rank));
    if (!report.downloaded) continue;
    const auto words = shared.rank(rank).of<std::uint32_t>("health");
    health[static_cast<std::size_t>(rank)].assign(words.begin(), words.end());
    if (rank != 0) continue;
    const auto flags = shared.rank(0).of<std::uint32_t>("peer").first(kRanks);
    alarms.assign(flags.begin(), flags.end());
  }
  const runtime::WatchedLaunch launch{key, shared.rank(0).of<std::int32_t>("layer")[0]};
  auto text =
      runtime::explain_group(health, alarms, {&launch, 1}, facts_from(shared.rank(0).of<std::int32_t>("epoch")[0]));
  if (!text && errors.empty()) return std::nullopt;
  return LaunchFailure{.error = fmt::format("{}", fmt::join(errors.texts(), "\n")),
                       .health = std::move(text).value_or("")};
}

/// What a rank refused is the user's to mend; that the others could not go on without it goes without saying.
[[noreturn]] void fail(const LaunchFailure& failure, const RankProcesses& processes) {
  kernels::RankReasons refused;
  for (int rank = 0; rank < kRanks; ++rank) {
    if (processes.refused(rank)) refused.add(rank, processes.failure(rank));
  }
  if (refused.empty()) throw std::runtime_error(failure.error);
  throw UserError(fmt::format("{}", fmt::join(refused.texts(), "\n")));
}

void take_reports(const SharedGroup& shared, RunResult& result) {
  runtime::EmulatorCounts counts;
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankReport& report = shared.report(rank);
    counts = counts + report.counts;
    result.load_ms = std::max(result.load_ms, report.load_ms);
    result.run_ms = std::max(result.run_ms, report.run_ms);
  }
  counts.seconds = result.run_ms / 1000;  // the ranks ran at the same time
  result.emulator = counts;
  result.device = fmt::format("{} in each of {} processes", shared.report(0).device.data(), kRanks);
  result.device_name = shared.report(0).device_name.data();
}

}  // namespace

RunResult run_group_in_processes(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options) {
  const K2Key k2 = k2_key(key);
  RunResult result;
  result.key = key.text();
  result.arch = kArch;
  const runtime::Obtained obtained = jit.get(key, kArch);  // once, before the processes part
  result.source = obtained.source;
  result.get_ms = obtained.times_ms;
  result.resources = obtained.kernel->record.resources;

  check_stalled_ranks(kRanks);
  const SharedGroup shared(k2);
  RankProcesses processes(kRanks, [&](int rank, const runtime::Gather& gather) {
    run_rank(rank, jit, key, shared, Exchange(gather, options.timeout));
  });
  std::optional<GroupExpectation> expected;
  processes.serve(options.timeout, [&](std::span<const RankProcesses::Message> messages) {
    if (!all_say(messages, kReady)) return;
    generate_group(k2, options.seed, shared.memory(), ExpertFill::kPicked);
    if (k2.fault_rank >= 0) set_launch(shared.memory(), k2.fault_epoch, k2.fault_layer);
    result.traits.matrix_model = shared.report(0).matrix_model.data();
    if (options.verify) {
      expected.emplace(k2, shared.memory(), kernels::reference::matrix_model(result.traits.matrix_model));
    }
  });
  take_reports(shared, result);
  result.failure = failure_of(key, shared, processes);
  if (result.failure && result.failure->health.empty()) fail(*result.failure, processes);
  if (result.failure) {
    const RankMemory& rank = shared.rank(0);
    result.failed_place = place_text(place_of(rank.of<std::int32_t>("epoch")[0], rank.of<std::int32_t>("layer")[0]));
    return result;
  }
  result.launches = 1;
  if (!expected) return result;
  result.outputs = expected->compare(shared.memory());
  result.compared = true;
  result.verified = std::ranges::all_of(result.outputs, &kernels::Comparison::ok);
  return result;
}

}  // namespace monojit::tools
