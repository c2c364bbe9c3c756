#include "kernels/models.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monojit::kernels {
namespace {

// An engine decodes batches of any size, on any rank. The fields that are not named have the model's own values: an
// engine that lays its caches out in another way warms its own patterns.
constexpr std::string_view kMinimaxM3[] = {
    "minimax_m3.k1{tokens=*,index_heads=1|4,index_own=*}",
};

constexpr std::string_view kKimiK3[] = {
    "common.bump",
    "kimi_k3.k2{tokens=*,nblocks=*,reset=*}",
};

constexpr Model kModels[] = {
    {"kimi_k3", "Kimi-K3 on eight ranks: the back half of every layer, and the count of steps", kKimiK3},
    {"minimax_m3", "MiniMax-M3: the front half of every sparse layer", kMinimaxM3},
};

}  // namespace

std::span<const Model> models() { return kModels; }

const Model& model(std::string_view name) {
  const auto* const found = std::ranges::find(kModels, name, &Model::name);
  if (found != std::end(kModels)) return *found;
  std::vector<std::string_view> names;
  for (const Model& candidate : kModels) names.push_back(candidate.name);
  throw UserError(fmt::format("unknown model '{}'; models are {}", name, fmt::join(names, ", ")));
}

}  // namespace monojit::kernels
