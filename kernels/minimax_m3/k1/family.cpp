#include <fmt/format.h>

#include "kernels/minimax_m3/k1/generator_digest.h"
#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/memory_map.h"
#include "kernels/minimax_m3/k1/timeline.h"

namespace monojit::kernels::minimax_m3 {
namespace {

constexpr auto kFields = plain_fields(kK1Fields);

Launch launch(const BuildKey& /*key*/) {
  return {.workgroups = kWorkgroups, .workgroup_size = kThreads, .persistent = true, .min_waves_per_eu = 2};
}

void check(const BuildKey& key, std::string_view arch, std::vector<std::string>& reasons) {
  if (arch != "gfx950" && arch != "gfx942") reasons.emplace_back("arch must be gfx950 or gfx942");
  const K1Key k1 = k1_key(key);
  if (k1.index_own >= k1.index_heads) {
    reasons.push_back(fmt::format("index_own={} must be below index_heads={}", k1.index_own, k1.index_heads));
  }
  if (k1.init_blocks + k1.local_blocks > kTopBlocks) {
    reasons.push_back(fmt::format("init_blocks={} and local_blocks={} are more than the {} blocks that are selected",
                                  k1.init_blocks, k1.local_blocks, kTopBlocks));
  }
}

std::optional<HealthWords> health(const BuildKey& key) {
  if (!k1_key(key).bounded) return std::nullopt;
  return HealthWords{.argument = "scratch", .offset = kScratchHealth, .regions = kWaitRegions};
}

}  // namespace

const Family kK1 = {
    .name = "minimax_m3.k1",
    .summary =
        "MiniMax-M3, front half of a sparse layer: input norm, FP8 projection, head norms, RoPE, cache "
        "insert, index scores",
    .symbol_stem = "minimax_m3_k1",
    .generator_digest = kernels_minimax_m3_k1::kGeneratorDigest,
    .fields = kFields,
    .arguments = kK1Arguments,
    .launch = launch,
    .check = check,
    .health = health,
    .timeline = k1_timeline,
    .layout = k1_memory_map,
};

}  // namespace monojit::kernels::minimax_m3
