#include "kernels/kimi_k3/k2/reference/reference.h"

#include <span>
#include <utility>

#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/rank_run.h"

namespace monojit::kernels::kimi_k3 {
namespace {

template <class T>
std::vector<T> copy_of(const RankMemory& rank, std::string_view name) {
  const auto values = rank.of<T>(name);
  return {values.begin(), values.end()};
}

using Phase = void (RankRun::*)();
constexpr Phase kUpToRouting[] = {&RankRun::output_projection, &RankRun::residual, &RankRun::early_gemvs,
                                  &RankRun::routing};
constexpr Phase kBehindRouting[] = {&RankRun::experts, &RankRun::shared_expert, &RankRun::latent_norm, &RankRun::up,
                                    &RankRun::reduce};

/// The group in lockstep: a phase of every rank, then the next.
class GroupRun {
 public:
  GroupRun(const K2Key& key, const GroupMemory& before, reference::MatrixModel model) {
    ranks_.reserve(kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
      const RankMemory& memory = before[static_cast<std::size_t>(rank)];
      results_[static_cast<std::size_t>(rank)] = {
          copy_of<reference::BFloat16Bits>(memory, "prefix"), copy_of<reference::BFloat16Bits>(memory, "out"),
          copy_of<std::byte>(memory, "scratch"), copy_of<std::byte>(memory, "peer")};
      ranks_.emplace_back(key, memory, model, results_, rank);
    }
  }

  void run(std::span<const Phase> phases) {
    for (const Phase phase : phases) {
      for (RankRun& rank : ranks_) (rank.*phase)();
    }
  }

  std::span<const Routing> routes() const { return ranks_.front().routes(); }
  GroupResult take_results() { return std::move(results_); }

 private:
  GroupResult results_;
  std::vector<RankRun> ranks_;
};

}  // namespace

GroupResult run_group(const K2Key& key, const GroupMemory& before, reference::MatrixModel model) {
  GroupRun run(key, before, model);
  run.run(kUpToRouting);
  run.run(kBehindRouting);
  return run.take_results();
}

RoutedGroup run_to_routing(const K2Key& key, const GroupMemory& before, reference::MatrixModel model) {
  GroupRun run(key, before, model);
  run.run(kUpToRouting);
  RoutedGroup routed{.routes = {run.routes().begin(), run.routes().end()}, .prefix = {}};
  GroupResult results = run.take_results();
  for (std::size_t rank = 0; rank < kRanks; ++rank) routed.prefix[rank] = std::move(results[rank].prefix);
  return routed;
}

std::vector<Routing> routes(const K2Key& key, const GroupMemory& before, reference::MatrixModel model) {
  return run_to_routing(key, before, model).routes;
}

std::int32_t tag_of(const RankMemory& rank) {
  return launch_tag(rank.of<std::int32_t>("epoch")[0], rank.of<std::int32_t>("layer")[0]);
}

std::size_t half_offset(const RankMemory& rank) {
  const int parity = epoch_parity(rank.of<std::int32_t>("epoch")[0]);
  return static_cast<std::size_t>(kPeerHead + parity * kPeerHalf);
}

}  // namespace monojit::kernels::kimi_k3
