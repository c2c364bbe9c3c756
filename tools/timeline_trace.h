#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "kernels/common/family.h"
#include "tools/report.h"

/// `--trace` of `monojit run`: the kernel's own time stamps as a trace file in Chrome's JSON format, which Perfetto
/// reads. A process of the trace is a rank, a thread a workgroup, a slice what it did between two stamps.
namespace monojit::tools {

class TimelineTrace {
 public:
  /// An empty `file` asks for no trace. `ranks` of a group: their clocks must agree. Throws UserError when the build
  /// takes no time stamps or the file can't be written.
  TimelineTrace(const kernels::BuildKey& key, std::filesystem::path file, int ranks = 1);

  bool on() const { return words_.has_value(); }
  /// Only when on().
  const kernels::TimelineWords& words() const { return words_.value(); }
  /// Bytes of one launch's stamps.
  std::size_t bytes() const;

  /// One launch's stamps, under a name such as "step 5, layer 4". `paused`: the host waited and read memory before it,
  /// which the time axis leaves out.
  void add(const std::string& name, std::span<const std::int64_t> stamps, bool paused) {
    add(name, std::span(&stamps, 1), paused);
  }
  /// The same of all ranks.
  void add(const std::string& name, std::span<const std::span<const std::int64_t>> ranks, bool paused);

  /// Writes what was added. Throws UserError when the file can't be written.
  void write(const std::string& device) const;

 private:
  void add_rank(int rank, std::span<const std::int64_t> stamps, const std::string& launch);
  void add_workgroup(int rank, int workgroup, std::span<const std::int64_t> stamps, const std::string& launch);
  double microseconds(std::int64_t stamp) const;

  kernels::BuildKey key_;
  std::filesystem::path file_;
  int ranks_;
  std::optional<kernels::TimelineWords> words_;
  Json slices_ = Json::array();
  std::optional<std::int64_t> origin_;  ///< stamp at time 0
  std::int64_t latest_ = 0;             ///< stamp of all so far, where a launch that paused begins
};

}  // namespace monojit::tools
