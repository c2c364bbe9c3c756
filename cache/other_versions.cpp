#include "cache/other_versions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cache/file.h"
#include "cache/inventory.h"

namespace monojit::cache {
namespace {

constexpr std::size_t kShortDigest = 12;

}  // namespace

std::vector<Key> peek_keys(const std::filesystem::path& folder) {
  std::vector<Key> keys;
  for (StoredEntry& entry : list_entries(folder, take_inventory(folder), Look::kHead)) {
    if (entry.problem.empty()) keys.push_back(std::move(entry.key));
  }
  return keys;
}

void add_other_version(const Key& key, const Key& found, std::vector<std::string>& versions) {
  if (found.text != key.text || found.target != key.target || found == key) return;
  std::string version =
      fmt::format("generator {}, {}", printable(found.generator.substr(0, kShortDigest)), printable(found.toolchain));
  const auto place = std::ranges::lower_bound(versions, version);
  if (place == versions.end() || *place != version) versions.insert(place, std::move(version));
}

}  // namespace monojit::cache
