#include "tools/stalled_ranks.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <ranges>

#include <fmt/format.h>

#include "environment/variables.h"
#include "kernels/common/error.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

constexpr const char* kVariable = environment::name(environment::Id::kEmulatorStall);

std::string_view setting() {
  const char* const value = std::getenv(kVariable);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// The rank of "3:17" or "3:*"; nothing of what names none.
std::optional<std::uint64_t> rank_of(std::string_view part) {
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return whole_number<std::uint64_t>(part.substr(0, colon));
}

}  // namespace

std::string stalled_of_rank(std::string_view setting, int rank) {
  std::string own;
  for (const auto range : std::views::split(setting, ',')) {
    const std::string_view part(range.begin(), range.end());
    const auto named = rank_of(part);
    if (named && *named != static_cast<std::uint64_t>(rank)) continue;
    if (!own.empty()) own += ',';
    own += named ? fmt::format("0{}", part.substr(part.find(':'))) : std::string(part);
  }
  return own;
}

void check_stalled_ranks(int ranks) {
  for (const auto range : std::views::split(setting(), ',')) {
    const std::string_view part(range.begin(), range.end());
    const auto named = rank_of(part);
    if (!named || *named < static_cast<std::uint64_t>(ranks)) continue;
    throw UserError(
        fmt::format("{}={}: {} names rank {}; with a process a rank its device is the rank, and ranks are "
                    "0..{}",
                    kVariable, setting(), part, *named, ranks - 1));
  }
}

void stall_own_workgroups(int rank) {
  if (setting().empty()) return;
  setenv(kVariable, stalled_of_rank(setting(), rank).c_str(), 1);  // an empty one is none
}

}  // namespace monojit::tools
