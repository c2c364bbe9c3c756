#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace monojit::cache {

/// How much a cache folder may hold. What was used least recently goes first.
struct Limits {
  std::uint64_t max_bytes = 0;  ///< of all entry files; 0: no limit
  std::int64_t max_age_s = 0;   ///< since the last use; 0: no limit

  bool any() const { return max_bytes != 0 || max_age_s != 0; }
};

/// "1000", "500K", "10M", "5G", "1T", powers of 1024, also with "B" or "iB" at the end. Nothing for any other text.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// "90" or "90s", "10m", "12h", "30d", "8w" in seconds. Nothing for any other text.
std::optional<std::int64_t> parse_age(std::string_view text);

}  // namespace monojit::cache
