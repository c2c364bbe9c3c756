#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::kernels {

/// What one workgroup's bounded wait left behind when it gave up (kernels/common/health.h).
struct WaitRecord {
  int workgroup = 0;
  std::uint32_t region_id = 0;
  std::string_view region;  ///< empty: none of the kernel's
  std::uint32_t pair = 0;   ///< the first one that was missing
  std::uint32_t expected = 0;
  std::uint32_t seen = 0;
};

/// The records of a launch.
struct WaitRecords {
  std::vector<WaitRecord> records;  ///< workgroups rising; none when no wait gave up
  std::string strange;              ///< of further ones, such as no kernel leaves, in words; empty: there are none
};

/// Workgroups that waited for pairs of one region.
struct WaitedRegion {
  WaitRecord first;
  int count = 0;

  /// "; 2 other workgroups for pairs of ar, too"; empty: there are none.
  std::string others() const;
};

/// Whether the pairs of two records of one region come from the same place.
using SameSource = std::function<bool(const WaitRecord&, const WaitRecord&)>;

/// The records of each launch and region in the order in which these come in `records`, by their sources where
/// `same_source` tells these: up to 4, then the rest with the last.
std::vector<WaitedRegion> by_region(std::span<const WaitRecord> records, const SameSource& same_source = nullptr);

/// `regions`: names of the kernel's regions.
WaitRecords wait_records(std::span<const std::uint32_t> health, int workgroups,
                         std::span<const std::string_view> regions);

}  // namespace monojit::kernels
