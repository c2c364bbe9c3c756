#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Health words of a persistent kernel: what its bounded waits leave behind when one of them gives up. Word 0 is set by
/// the first wait that does, and stays; the kernel goes on with stale data so that the launch ends, and its outputs are
/// garbage. Waits that had lasted when they found word 0 set leave records, too, so that whoever is waited for and has
/// none did not wait itself. Workgroup b's record is words 8 (b + 1) .. 8 (b + 1) + 7:
///   1, region id, index of the first pair that is missing, tag expected, tag seen, b, clock & 0x7FFFFFFF, 0
/// The host zeroes the words once, and again after a failure.
namespace monojit::kernels {

inline constexpr int kHealthRecordWords = 8;
inline constexpr std::int64_t kWaitBoundTicks = 1'000'000'000;  // of the 100 MHz clock: 10 s
/// How long a wait that finds word 0 set must have lasted to leave a record: the waits that come after a failure last
/// microseconds, those that hang with the one that gave up nearly as long as it did.
inline constexpr std::int64_t kWaitToldTicks = kWaitBoundTicks / 10;

constexpr std::int64_t health_bytes(std::int64_t workgroups) { return (workgroups + 1) * kHealthRecordWords * 4; }

/// A region's name in health records: CRC-32 of it without the sign bit.
constexpr std::uint32_t region_id(std::string_view name) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char letter : name) {
    crc ^= static_cast<std::uint8_t>(letter);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc & 0x7FFFFFFFU;
}

/// What it means that word 0 is set and no record is the launch's: a wait that gives up leaves its record first.
inline constexpr std::string_view kSetBefore =
    "health word 0 was set before the launch: none of its waits left a record of it, they gave up at once";

/// A pair of a region in words.
using DescribePair = std::function<std::string(std::string_view region, std::uint32_t pair)>;

/// What the health words of a launch of `workgroups` say, in words: a line for each region that was waited for, the
/// earliest first, with how many workgroups gave up on it and the first of them; nothing when no wait gave up.
/// `regions`: the names of the kernel's regions, in the order of the data. `describe`: what a pair is, where the kernel
/// can tell.
std::optional<std::string> explain_health(std::span<const std::uint32_t> words, int workgroups,
                                          std::span<const std::string_view> regions,
                                          const DescribePair& describe = nullptr);

}  // namespace monojit::kernels
