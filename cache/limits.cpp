#include "cache/limits.h"

#include <charconv>
#include <limits>
#include <string>
#include <utility>

namespace monojit::cache {
namespace {

/// The number in front, and what follows it. Nothing without a number, or for one beyond 64 bits.
std::optional<std::pair<std::uint64_t, std::string_view>> split(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  return std::pair(number, std::string_view(rest, static_cast<std::size_t>(end - rest)));
}

std::optional<std::uint64_t> product(std::uint64_t number, std::uint64_t factor) {
  if (number > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
  return number * factor;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  constexpr unsigned kBitsAUnit = 10;
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  std::string_view unit = parts->second;
  if (unit.ends_with("iB") && unit.size() > 2) {
    unit.remove_suffix(2);
  } else if (unit.ends_with('B')) {
    unit.remove_suffix(1);
  }
  if (unit.empty()) return parts->first;
  const std::size_t at = kUnits.find(unit.front() == 'k' ? 'K' : unit.front());
  if (unit.size() != 1 || at == std::string_view::npos) return std::nullopt;
  return product(parts->first, std::uint64_t{1} << kBitsAUnit * (at + 1));
}

std::optional<std::int64_t> parse_age(std::string_view text) {
  constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {{"", 1},     {"s", 1},     {"m", 60},
                                                                   {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}};
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  for (const auto& [unit, seconds] : kUnits) {
    if (unit != parts->second) continue;
    const auto total = product(parts->first, seconds);
    if (!total || *total > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(*total);
  }
  return std::nullopt;
}

}  // namespace monojit::cache
