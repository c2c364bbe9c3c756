#include "tools/timeline_trace.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/output_file.h"

namespace monojit::tools {
namespace {

constexpr int process_of(int rank) { return rank + 1; }
constexpr int kLaunchTrack = 0;  // workgroup b's track is b + 1

std::optional<kernels::TimelineWords> words_of(const kernels::BuildKey& key) {
  const kernels::Family& family = key.family();
  if (family.timeline == nullptr) {
    throw UserError(fmt::format("--trace: {} has no timeline: its kernels take no time stamps", family.name));
  }
  auto words = family.timeline(key);
  if (!words) {
    throw UserError(fmt::format("--trace: {} takes no time stamps: add timeline=1 to the key", key.text()));
  }
  return words;
}

Json name_event(const char* what, int rank, int thread, const std::string& name) {
  return {{"ph", "M"}, {"pid", process_of(rank)}, {"tid", thread}, {"name", what}, {"args", {{"name", name}}}};
}

struct Extent {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = 0;  ///< 0: there are no stamps
};
Extent extent_of(std::span<const std::int64_t> stamps) {
  Extent extent;
  for (const std::int64_t stamp : stamps) {
    if (stamp != 0) extent.begin = std::min(extent.begin, stamp);
    extent.end = std::max(extent.end, stamp);
  }
  return extent;
}

}  // namespace

TimelineTrace::TimelineTrace(const kernels::BuildKey& key, std::filesystem::path file, int ranks)
    : key_(key), file_(std::move(file)), ranks_(ranks) {
  if (file_.empty()) return;
  words_ = words_of(key);
  check_output_file(file_);
}

std::size_t TimelineTrace::bytes() const {
  const auto workgroups = std::size_t{key_.family().launch(key_).workgroups};
  return workgroups * static_cast<std::size_t>(words().points) * sizeof(std::int64_t);
}

double TimelineTrace::microseconds(std::int64_t stamp) const {
  return static_cast<double>(stamp - origin_.value_or(stamp)) * 1e6 / static_cast<double>(words().ticks_per_second);
}

void TimelineTrace::add(const std::string& name, std::span<const std::span<const std::int64_t>> ranks, bool paused) {
  auto [begin, end] = extent_of(ranks[0]);
  for (const auto stamps : ranks.subspan(1)) {
    const Extent extent = extent_of(stamps);
    begin = std::min(begin, extent.begin);
    end = std::max(end, extent.end);
  }
  if (end == 0) return;  // no workgroup got as far as its first point's store
  if (!origin_) {
    origin_ = begin;
  } else if (paused) {
    origin_ = *origin_ + begin - latest_;
  }
  latest_ = end;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) add_rank(static_cast<int>(rank), ranks[rank], name);
}

void TimelineTrace::add_rank(int rank, std::span<const std::int64_t> stamps, const std::string& launch) {
  const auto [begin, end] = extent_of(stamps);
  if (end == 0) return;
  const auto points = static_cast<std::size_t>(words().points);
  for (std::size_t row = 0; row < stamps.size() / points; ++row)
    add_workgroup(rank, static_cast<int>(row), stamps.subspan(row * points).first(points), launch);
  slices_.push_back({{"ph", "X"},
                     {"pid", process_of(rank)},
                     {"tid", kLaunchTrack},
                     {"name", launch},
                     {"ts", microseconds(begin)},
                     {"dur", microseconds(end) - microseconds(begin)}});
}

void TimelineTrace::add_workgroup(int rank, int workgroup, std::span<const std::int64_t> stamps,
                                  const std::string& launch) {
  std::optional<int> from;
  for (int to = 0; to < words().points; ++to) {
    const std::int64_t stamp = stamps[static_cast<std::size_t>(to)];
    if (stamp == 0) continue;
    const std::string_view stage = from ? words().stage(key_, workgroup, *from, to) : "";
    if (!stage.empty()) {
      const double begin = microseconds(stamps[static_cast<std::size_t>(*from)]);
      slices_.push_back({{"ph", "X"},
                         {"pid", process_of(rank)},
                         {"tid", workgroup + 1},
                         {"name", stage},
                         {"ts", begin},
                         {"dur", microseconds(stamp) - begin},
                         {"args", {{"launch", launch}}}});
    }
    from = to;
  }
}

void TimelineTrace::write(const std::string& device) const {
  if (!on()) return;
  Json events = Json::array();
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::string whose = ranks_ > 1 ? fmt::format("rank {}: ", rank) : "";
    events.push_back(
        name_event("process_name", rank, kLaunchTrack, fmt::format("{}{} on {}", whose, key_.text(), device)));
    events.push_back(name_event("thread_name", rank, kLaunchTrack, "launches"));
    const auto workgroups = static_cast<int>(key_.family().launch(key_).workgroups);
    for (int i = 0; i < workgroups; ++i) {
      events.push_back(
          name_event("thread_name", rank, i + 1, fmt::format("workgroup {}: {}", i, words().role(key_, i))));
      events.push_back({{"ph", "M"},
                        {"pid", process_of(rank)},
                        {"tid", i + 1},
                        {"name", "thread_sort_index"},
                        {"args", {{"sort_index", i + 1}}}});
    }
  }
  for (const Json& slice : slices_) events.push_back(slice);
  const std::string text = Json({{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}).dump() + '\n';
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  replace_file(file_, {&bytes, 1});
}

}  // namespace monojit::tools
