#include "runtime/watched_records.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/common/health.h"

namespace monojit::runtime {

using kernels::HealthWords;
using kernels::WaitRecord;

namespace {

std::vector<std::string_view> all_regions(std::span<const WatchedLaunch> launches) {
  std::vector<std::string_view> regions;
  for (const WatchedLaunch& launch : launches) {
    if (const auto words = health_words(launch.key)) {
      regions.insert(regions.end(), words->regions.begin(), words->regions.end());
    }
  }
  return regions;
}

/// A tag's place in the order of the launches around `near`, whose own is half a turn.
std::uint32_t place_near(std::uint32_t tag, std::uint32_t near, const HealthWords& words) {
  if (words.place_of_tag != nullptr) {
    tag = words.place_of_tag(tag);
    near = words.place_of_tag(near);
  }
  const std::uint32_t half = std::uint32_t{1} << (words.place_bits - 1);
  return (tag - near + half) & (half | (half - 1));
}

}  // namespace

std::optional<HealthWords> health_words(const kernels::BuildKey& key) {
  return key.family().health == nullptr ? std::nullopt : key.family().health(key);
}

kernels::WaitRecords watched_records(std::span<const std::uint32_t> health, std::span<const WatchedLaunch> launches) {
  const int workgroups = static_cast<int>(health.size() / kernels::kHealthRecordWords) - 1;
  kernels::WaitRecords found = kernels::wait_records(health, workgroups, all_regions(launches));
  if (found.records.empty()) return found;
  const std::uint32_t near = found.records.front().expected;
  std::ranges::stable_sort(found.records, {}, [&](const WaitRecord& record) {
    return std::pair(launch_order(record, near, launches), stage_of(record, launches));
  });
  return found;
}

const WatchedLaunch* launch_of(const WaitRecord& record, std::span<const WatchedLaunch> launches) {
  for (const WatchedLaunch& launch : launches) {
    const auto words = health_words(launch.key);
    if (words && (words->layer_of_tag == nullptr || words->layer_of_tag(record.expected) == launch.layer)) {
      return &launch;
    }
  }
  return nullptr;
}

bool tag_before(std::uint32_t tag, std::uint32_t other, const HealthWords& words) {
  return place_near(tag, other, words) < place_near(other, other, words);
}

std::uint32_t launch_order(const WaitRecord& record, std::uint32_t near, std::span<const WatchedLaunch> launches) {
  const WatchedLaunch* const launch = launch_of(record, launches);
  return place_near(record.expected, near, launch == nullptr ? HealthWords{} : *health_words(launch->key));
}

bool left_before(const WaitRecord& record, std::span<const WatchedLaunch> launches, const LaunchFacts& facts) {
  const WatchedLaunch* const launch = launch_of(record, launches);
  if (launch == nullptr) return !launches.empty();
  const auto words = health_words(launch->key);
  return facts.first_tag && words->launch_of_tag != nullptr && tag_before(record.expected, *facts.first_tag, *words);
}

std::optional<kernels::WaitSource> source_of(const WaitRecord& record, std::span<const WatchedLaunch> launches) {
  const WatchedLaunch* const launch = launch_of(record, launches);
  if (launch == nullptr) return std::nullopt;
  const auto words = health_words(launch->key);
  return words->source == nullptr ? std::nullopt : words->source(launch->key, record.region, record.pair);
}

std::size_t stage_of(const WaitRecord& record, std::span<const WatchedLaunch> launches) {
  const WatchedLaunch* launch = launch_of(record, launches);
  if (launch == nullptr) return SIZE_MAX;
  const auto regions = health_words(launch->key)->regions;
  const auto found = std::ranges::find(regions, record.region);
  return found == regions.end() ? SIZE_MAX : static_cast<std::size_t>(found - regions.begin());
}

}  // namespace monojit::runtime
