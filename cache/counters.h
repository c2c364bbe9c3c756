#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "cache/file.h"

namespace monojit::cache {

enum class Count : std::uint8_t {
  kDiskHits,      ///< entries that the user's folder gave
  kReadOnlyHits,  ///< that a read-only folder or archive gave
  kRemoteHits,    ///< that the remote store gave
  kMisses,        ///< look-ups that no tier below memory could answer
  kBuilds,        ///< kernels that were built
  kBytesRead,     ///< of entries that were hit, code objects alone
  kBytesStored,   ///< of entries that were put into the user's folder, code objects alone
};
inline constexpr std::array<const char*, 7> kCountNames = {"disk_hits", "read_only_hits", "remote_hits", "misses",
                                                           "builds",    "bytes_read",     "bytes_stored"};

/// Counts by name, by family.
using CountTable = std::map<std::string, std::map<std::string, std::uint64_t>>;

/// What processes did with a cache folder, summed up over all of them in the file `counters` of that folder.
///
/// A process keeps its own counts and appends them as lines every few seconds, after builds and at its end, each file
/// of lines with one write; whoever finds the file large replaces it by its sums. A process that is killed loses what
/// it had not appended. No problem of this file is more than a count that is wrong. All of it may be used from any
/// thread.
class Counters {
 public:
  /// Empty: nothing is kept.
  explicit Counters(std::filesystem::path folder, Modes modes);
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  void add(const std::string& family, Count count, std::uint64_t amount = 1);
  /// Appends what is due: after kPause, or at once.
  void flush_when_due();
  void flush();

  /// The sums of a folder; empty when there are none.
  static CountTable read(const std::filesystem::path& folder);
  /// Starts from nothing. 0 or an errno value.
  static int reset(const std::filesystem::path& folder);

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path folder_;
  Modes modes_;
  std::mutex mutex_;
  std::map<std::string, std::array<std::uint64_t, kCountNames.size()>> own_;
  Clock::time_point flushed_ = Clock::now();
};

}  // namespace monojit::cache
