#include "tools/group_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/kimi_rank.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;

constexpr std::int64_t kFaultTicks = 1'200'000'000;  // 12 s
constexpr std::string_view kFaultNames[] = {"rank", "epoch", "layer", "ticks", "time"};

bool is_like(int layer, const K2Key& key) {
  return blocks_of_layer(layer) == key.nblocks && resets_prefix(layer) == key.reset;
}

std::optional<int> layer_like(const K2Key& key) {
  for (int layer = kFirstLayer; layer <= kLastLayer; ++layer) {
    if (is_like(layer, key)) return layer;
  }
  return std::nullopt;
}

using FieldValues = std::map<std::string, std::int64_t, std::less<>>;

std::int64_t fault_number(const std::string& fault, std::string_view name, std::string_view text) {
  if (const auto value = whole_number<std::int64_t>(text)) return *value;
  throw UserError(fmt::format("--fault {}: {} wants a decimal number, not '{}'", fault, name, text));
}

void check_fault(const std::string& fault, const FieldValues& values, int repeat) {
  const auto check = [&](const char* name, std::int64_t first, std::int64_t last) {
    const std::int64_t value = values.find(name)->second;
    if (value >= first && value <= last) return;
    throw UserError(fmt::format("--fault {}: {} is one of {}..{}", fault, name, first, last));
  };
  check("rank", 0, kRanks - 1);
  check("layer", back_slot(kFirstLayer), back_slot(kLastLayer));
  check("time", 1, repeat);
}

/// A layer that the model launches with another build would tell nothing of this one.
void check_layer(const std::string& option, const K2Key& key, int slot, std::string_view advice) {
  const std::optional<int> like = layer_like(key);
  const int layer = slot - back_slot(0);
  if (!like || is_like(layer, key)) return;
  throw UserError(fmt::format(
      "{}: layer {} of the model has nblocks={},reset={}, not the key's nblocks={},reset={}, as layer {} has; give {}",
      option, slot, blocks_of_layer(layer), static_cast<int>(resets_prefix(layer)), key.nblocks,
      static_cast<int>(key.reset), back_slot(*like), advice));
}

/// What a text of name=number and commas gives.
FieldValues fault_values(const std::string& fault) {
  FieldValues values;
  for (const auto part : std::views::split(fault, ',')) {
    const std::string_view text(part.begin(), part.end());
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == std::string_view::npos || std::ranges::find(kFaultNames, name) == std::end(kFaultNames)) {
      throw UserError(
          fmt::format("--fault {}: '{}' is none of rank=N, epoch=N, layer=N, ticks=N and time=N", fault, text));
    }
    if (!values.try_emplace(std::string(name), fault_number(fault, name, text.substr(equals + 1))).second) {
      throw UserError(fmt::format("--fault {}: {} is given twice", fault, name));
    }
  }
  if (!values.contains("rank")) throw UserError(fmt::format("--fault {}: which rank is to stall? Say rank=N", fault));
  return values;
}

/// Forward passes behind the first launch's that the same launches begin at when they are made the next time.
int steps_of(const std::vector<PlannedLaunch>& plan) { return plan.back().step + 1; }

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> place_of(std::int32_t epoch, std::int32_t slot) {
  return {{"step", epoch}, {"layer", slot - back_slot(0)}};
}

runtime::LaunchFacts facts_from(std::int32_t epoch) {
  return {.first_tag = static_cast<std::uint32_t>(launch_tag(epoch, 0)), .random_memory = true};
}

std::vector<PlannedLaunch> plan_layers(const K2Key& key, int layers, std::optional<std::int32_t> slot) {
  const std::optional<int> like = layer_like(key);
  if (!like) {
    throw UserError(fmt::format("--layers: no layer of the model has nblocks={},reset={}", key.nblocks,
                                static_cast<int>(key.reset)));
  }
  if (slot && (*slot < back_slot(kFirstLayer) || *slot > back_slot(kLastLayer)))
    throw UserError(fmt::format("--layers: the tensor `layer` is {}, must be in {}..{}", *slot, back_slot(kFirstLayer),
                                back_slot(kLastLayer)));
  if (slot) check_layer("--layers behind the tensor `layer`", key, *slot, "the key of the layer");
  const int first = slot ? *slot - back_slot(0) : *like;
  constexpr int kLayers = kLastLayer - kFirstLayer + 1;
  std::vector<PlannedLaunch> plan;
  for (int i = 0; i < layers; ++i) {
    const int number = first - kFirstLayer + i;
    const int layer = kFirstLayer + number % kLayers;
    K2Key of_layer = key;
    of_layer.nblocks = blocks_of_layer(layer);
    of_layer.reset = resets_prefix(layer);
    plan.push_back({of_layer, build_key(of_layer), number / kLayers, back_slot(layer)});
  }
  return plan;
}

std::int32_t epoch_of_fault(const std::vector<PlannedLaunch>& plan, int time) {
  const K2Key& key = plan.front().key;
  const int before = (time - 1) * steps_of(plan);
  const auto fails = [&](const PlannedLaunch& launch) {
    return launch.slot == key.fault_layer && key.fault_epoch >= before + launch.step;
  };
  const auto found = std::ranges::find_if(plan, fails);
  if (found == plan.end()) {
    throw UserError(fmt::format("epoch {}, layer {}, where rank {} is to stall{}, is no launch of this run",
                                key.fault_epoch, key.fault_layer, key.fault_rank,
                                time > 1 ? fmt::format(" the {}. time", time) : ""));
  }
  return key.fault_epoch - before - found->step;
}

PlannedFault planned_fault(const kernels::BuildKey& key, const std::string& fault, int layers, int repeat) {
  const K2Key k2 = k2_key(key);
  if (k2.fault_rank >= 0) throw UserError(fmt::format("--fault {}: the key has a fault already", fault));
  FieldValues given = fault_values(fault);
  given.try_emplace("layer", back_slot(layer_like(k2).value_or(kFirstLayer)));
  given.try_emplace("ticks", kFaultTicks);
  given.try_emplace("time", 1);
  check_fault(fault, given, repeat);
  if (layers == 0)
    check_layer(fmt::format("--fault {}", fault), k2, static_cast<int>(given["layer"]),
                "the key of the layer, or --layers that reach it");
  const int time = static_cast<int>(given["time"]);
  given.try_emplace("epoch", 1 + (time - 1) * (layers > 0 ? steps_of(plan_layers(k2, layers)) : 1));
  given.erase("time");
  FieldValues values;
  for (const auto& [name, value] : given) values[fmt::format("fault_{}", name)] = value;
  for (std::size_t i = 0; i < key.values().size(); ++i)
    values.try_emplace(std::string(key.family().fields[i].name), key.values()[i]);
  return {kernels::BuildKey::from_values(key.family(), values), time};
}

}  // namespace monojit::tools
