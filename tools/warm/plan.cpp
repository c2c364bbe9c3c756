#include "tools/warm/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/key_pattern.h"
#include "kernels/models.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

std::vector<std::string> reasons_against(const kernels::BuildKey& key, const std::string& arch) {
  std::vector<std::string> reasons;
  key.family().check(key, arch, reasons);
  return reasons;
}

class Planner {
 public:
  /// For each of `archs`.
  void add(const WarmWish& wish, const std::vector<std::string>& archs) {
    if (wish.model.empty()) {
      add(wish.pattern, archs);
      return;
    }
    for (const std::string_view pattern : kernels::model(wish.model).patterns) add(pattern, archs);
  }

  WarmPlan take() { return std::move(plan_); }

 private:
  void add(std::string_view pattern, const std::vector<std::string>& archs) {
    const std::vector<kernels::BuildKey> keys = kernels::expand_pattern(pattern);
    for (const std::string& arch : archs) add(pattern, keys, arch);
  }

  void add(std::string_view pattern, const std::vector<kernels::BuildKey>& keys, const std::string& arch) {
    if (const std::string problem = arch_problem(arch); !problem.empty()) throw UserError(problem);
    std::size_t left_out = 0;
    std::vector<std::string> last_reasons;
    for (const kernels::BuildKey& key : keys) {
      std::vector<std::string> reasons = reasons_against(key, arch);
      if (reasons.empty()) {
        if (seen_.insert(key.text() + ' ' + arch).second) plan_.jobs.push_back({key, arch});
      } else {
        ++left_out;
        last_reasons = std::move(reasons);
      }
    }
    if (left_out == 0) return;
    const std::string why = fmt::format("{}", fmt::join(last_reasons, "; "));
    if (left_out == keys.size()) {
      throw UserError(
          fmt::format("{} can't be built for {}: {}", keys.size() == 1 ? keys[0].text() : pattern, arch, why));
    }
    plan_.remarks.push_back(fmt::format("{} of the {} combinations of {} can't be built for {} and are left out ({})",
                                        left_out, keys.size(), pattern, arch, why));
  }

  WarmPlan plan_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::string_view both = text;
  const std::size_t slash = std::min(both.find('/'), both.size());
  const auto index = whole_number<std::size_t>(both.substr(0, slash));
  const auto count = whole_number<std::size_t>(both.substr(std::min(slash + 1, both.size())));
  if (!index || !count || *index >= *count) {
    throw UserError(fmt::format("--shard: '{}' is no I/N with I of 0 to N-1, such as 0/8", text));
  }
  return {.index = *index, .count = *count};
}

WarmPlan make_plan(const std::vector<WarmWish>& wishes, const std::vector<std::string>& archs) {
  Planner planner;
  for (const WarmWish& wish : wishes) {
    try {
      planner.add(wish, wish.archs.empty() ? archs : wish.archs);
    } catch (const UserError& error) {
      if (wish.place.empty()) throw;
      throw UserError(fmt::format("{}: {}", wish.place, error.what()));
    }
  }
  return planner.take();
}

void keep_shard(WarmPlan& plan, const Shard& shard) {
  std::size_t at = 0;
  std::erase_if(plan.jobs, [&](const WarmJob&) { return at++ % shard.count != shard.index; });
}

}  // namespace monojit::tools
