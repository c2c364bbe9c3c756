#include "tools/group_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/kimi_rank.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;

constexpr std::int64_t kFaultTicks = 1'200'000'000;  // 12 s

std::optional<int> layer_like(const K2Key& key) {
  for (int layer = kFirstLayer; layer <= kLastLayer; ++layer) {
    if (blocks_of_layer(layer) == key.nblocks && resets_prefix(layer) == key.reset) return layer;
  }
  return std::nullopt;
}

std::int64_t fault_number(const std::string& fault, std::string_view name, std::string_view text) {
  if (const auto value = whole_number<std::int64_t>(text)) return *value;
  throw UserError(fmt::format("--fault {}: {} wants a decimal number, not '{}'", fault, name, text));
}

using FieldValues = std::map<std::string, std::int64_t, std::less<>>;

void check_fault(const std::string& fault, const FieldValues& values) {
  const auto check = [&](const char* name, std::int64_t first, std::int64_t last) {
    const std::int64_t value = values.at(fmt::format("fault_{}", name));
    if (value >= first && value <= last) return;
    throw UserError(fmt::format("--fault {}: {} is one of {}..{}", fault, name, first, last));
  };
  check("rank", 0, kRanks - 1);
  check("layer", back_slot(kFirstLayer), back_slot(kLastLayer));
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> place_of(std::int32_t epoch, std::int32_t slot) {
  return {{"step", epoch}, {"layer", slot - back_slot(0)}};
}

std::vector<PlannedLaunch> plan_layers(const K2Key& key, int layers) {
  const std::optional<int> first = layer_like(key);
  if (!first) {
    throw UserError(fmt::format("--layers: no layer of the model has nblocks={},reset={}", key.nblocks,
                                static_cast<int>(key.reset)));
  }
  constexpr int kLayers = kLastLayer - kFirstLayer + 1;
  std::vector<PlannedLaunch> plan;
  for (int i = 0; i < layers; ++i) {
    const int number = *first - kFirstLayer + i;
    const int layer = kFirstLayer + number % kLayers;
    K2Key of_layer = key;
    of_layer.nblocks = blocks_of_layer(layer);
    of_layer.reset = resets_prefix(layer);
    plan.push_back({of_layer, build_key(of_layer), number / kLayers, back_slot(layer)});
  }
  return plan;
}

std::int32_t epoch_of_fault(const std::vector<PlannedLaunch>& plan) {
  const K2Key& key = plan.front().key;
  const auto fails = [&](const PlannedLaunch& launch) {
    return launch.slot == key.fault_layer && key.fault_epoch >= launch.step;
  };
  const auto found = std::ranges::find_if(plan, fails);
  if (found == plan.end()) {
    throw UserError(fmt::format("epoch {}, layer {}, where rank {} is to stall, is no launch of this run",
                                key.fault_epoch, key.fault_layer, key.fault_rank));
  }
  return key.fault_epoch - found->step;
}

kernels::BuildKey with_fault(const kernels::BuildKey& key, const std::string& fault) {
  const K2Key k2 = k2_key(key);
  FieldValues values = {{"fault_epoch", 1},
                        {"fault_layer", back_slot(layer_like(k2).value_or(kFirstLayer))},
                        {"fault_ticks", kFaultTicks}};
  for (std::size_t i = 0; i < key.values().size(); ++i)
    values.try_emplace(std::string(key.family().fields[i].name), key.values()[i]);
  if (k2.fault_rank >= 0) throw UserError(fmt::format("--fault {}: the key has a fault already", fault));
  std::set<std::string_view> given;
  for (const auto part : std::views::split(fault, ',')) {
    const std::string_view text(part.begin(), part.end());
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == std::string_view::npos || (name != "rank" && name != "epoch" && name != "layer" && name != "ticks")) {
      throw UserError(fmt::format("--fault {}: '{}' is none of rank=N, epoch=N, layer=N and ticks=N", fault, text));
    }
    if (!given.insert(name).second) throw UserError(fmt::format("--fault {}: {} is given twice", fault, name));
    values[fmt::format("fault_{}", name)] = fault_number(fault, name, text.substr(equals + 1));
  }
  if (!given.contains("rank")) throw UserError(fmt::format("--fault {}: which rank is to stall? Say rank=N", fault));
  check_fault(fault, values);
  return kernels::BuildKey::from_values(key.family(), values);
}

}  // namespace monojit::tools
