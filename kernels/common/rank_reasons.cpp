#include "kernels/common/rank_reasons.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monojit::kernels {

void RankReasons::add(int rank, std::string reason) {
  auto found = std::ranges::find(reasons_, reason, [](const auto& entry) -> const auto& { return entry.first; });
  if (found == reasons_.end()) found = reasons_.insert(found, {std::move(reason), {}});
  std::vector<int>& ranks = found->second;
  if (std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(rank);
}

std::vector<std::string> RankReasons::texts() const {
  std::vector<std::string> texts;
  for (const auto& [reason, ranks] : reasons_) texts.push_back(fmt::format("{}: {}", ranks_text(ranks), reason));
  return texts;
}

std::string ranks_text(const std::vector<int>& ranks) {
  constexpr int kRun = 3;  // numbers that are told as first and last
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i >= kRun) {
      parts.push_back(fmt::format("{}..{}", ranks[i], ranks[end - 1]));
    } else {
      for (std::size_t at = i; at < end; ++at) parts.push_back(std::to_string(ranks[at]));
    }
    i = end;
  }
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(parts, ", "));
}

}  // namespace monojit::kernels
