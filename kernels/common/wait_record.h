#pragma once

#include <cstdint>
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

/// The workgroups that waited for one region.
struct WaitedRegion {
  WaitRecord first;
  int count = 0;

  /// "workgroup 4 (and 2 others)".
  std::string who() const;
};

/// In the order in which the regions come in `records`.
std::vector<WaitedRegion> by_region(std::span<const WaitRecord> records);

/// `regions`: names of the kernel's regions.
WaitRecords wait_records(std::span<const std::uint32_t> health, int workgroups,
                         std::span<const std::string_view> regions);

}  // namespace monojit::kernels
