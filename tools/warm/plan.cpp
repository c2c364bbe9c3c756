#include "tools/warm/plan.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/key_pattern.h"
#include "kernels/models.h"

namespace monojit::tools {
namespace {

std::vector<std::string> reasons_against(const kernels::BuildKey& key, const std::string& arch) {
  std::vector<std::string> reasons;
  key.family().check(key, arch, reasons);
  return reasons;
}

class Planner {
 public:
  /// `pattern` for each of `archs`; `place` goes before messages where there is one.
  void add(std::string_view pattern, const std::vector<std::string>& archs, const std::string& place) {
    std::vector<kernels::BuildKey> keys;
    try {
      keys = kernels::expand_pattern(pattern);
      for (const std::string& arch : archs) add(pattern, keys, arch);
    } catch (const UserError& error) {
      if (place.empty()) throw;
      throw UserError(fmt::format("{}: {}", place, error.what()));
    }
  }

  WarmPlan take() { return std::move(plan_); }

 private:
  void add(std::string_view pattern, const std::vector<kernels::BuildKey>& keys, const std::string& arch) {
    if (arch != "gfx950" && arch != "gfx942") {
      throw UserError(fmt::format("kernels can't be built for '{}': use gfx950 or gfx942", arch));
    }
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

bool read_number(std::string_view text, std::size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || !read_number(std::string_view(text).substr(0, slash), shard.index) ||
      !read_number(std::string_view(text).substr(slash + 1), shard.count) || shard.index >= shard.count) {
    throw UserError(fmt::format("--shard: '{}' is no I/N with I of 0 to N-1, such as 0/8", text));
  }
  return shard;
}

WarmPlan make_plan(const std::vector<WarmWish>& wishes, const std::vector<std::string>& archs) {
  Planner planner;
  for (const WarmWish& wish : wishes) {
    const std::vector<std::string>& chosen = wish.archs.empty() ? archs : wish.archs;
    if (wish.model.empty()) {
      planner.add(wish.pattern, chosen, wish.place);
      continue;
    }
    for (const std::string_view pattern : kernels::model(wish.model).patterns) {
      planner.add(pattern, chosen, wish.place);
    }
  }
  return planner.take();
}

void keep_shard(WarmPlan& plan, const Shard& shard) {
  std::size_t at = 0;
  std::erase_if(plan.jobs, [&](const WarmJob&) { return at++ % shard.count != shard.index; });
}

}  // namespace monojit::tools
