#include "kernels/kimi_k3/k2/reference/hand_offs.h"

#include <span>
#include <string_view>

#include <fmt/format.h>

#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/region_words.h"

namespace monojit::kernels::kimi_k3 {
namespace {

std::size_t half_of(std::int32_t epoch) {
  return static_cast<std::size_t>(kPeerHead + epoch_parity(epoch) * kPeerHalf);
}

std::vector<std::vector<std::uint32_t>> copies(const std::vector<Region>& regions, std::span<const std::byte> memory) {
  std::vector<std::vector<std::uint32_t>> all;
  for (const Region& region : regions) {
    const auto words = words_of(region, memory);
    all.emplace_back(words.begin(), words.end());
  }
  return all;
}

/// Tags of the launch that the words were expected of, and of the one that left others.
struct Tags {
  std::uint32_t expected = 0;
  std::uint32_t found = 0;
};

/// Adds a region of one rank to its row.
void add(const Region& region, std::span<const std::uint32_t> want, std::span<const std::uint32_t> got,
         const Tags& tags, Comparison& row, std::string& first) {
  Differing found;
  const auto wanted = [&](std::size_t i) { return is_tag(region, i) ? tags.found : want[i]; };
  for (std::size_t i = 0; i < want.size(); ++i) {
    // A pair that carries another tag is one that the launch does not write.
    if (is_pair(region.content) && want[i | 1U] != tags.expected) continue;
    ++row.elements;
    if (same_word(region, i, wanted(i), got[i])) continue;
    if (found.count++ == 0) found.first = i;
  }
  row.mismatches += found.count;
  row.ok = row.mismatches == 0;
  if (found.count > 0 && first.empty()) first = difference_text(region, found, wanted(found.first), got[found.first]);
}

}  // namespace

ExpectedHandOffs::ExpectedHandOffs(const K2Key& key, const GroupMemory& before, const GroupResult& result)
    : key_(key), tag_(static_cast<std::uint32_t>(tag_of(before[0]))) {
  for (const RankResult& rank : result) {
    ranks_.push_back({.scratch = copies(scratch_regions(key), rank.scratch),
                      .peer = copies(peer_regions(key, half_offset(before[0])), rank.peer)});
  }
}

std::vector<Comparison> ExpectedHandOffs::compare(const GroupMemory& after, std::int32_t epoch, std::int32_t layer,
                                                  Left left, std::string& first) const {
  const Tags tags{.expected = tag_, .found = static_cast<std::uint32_t>(launch_tag(epoch, layer))};
  std::vector<Comparison> rows;
  const auto compare_all = [&](const std::vector<Region>& regions, std::string_view tensor, auto want) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
      Comparison& row = rows.emplace_back(Comparison{.name = std::string(regions[i].name), .ok = true});
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        std::string difference;
        add(regions[i], (ranks_[rank].*want)[i], words_of(regions[i], after[rank].view(tensor).bytes), tags, row,
            difference);
        if (!difference.empty() && first.empty()) first = fmt::format("rank{}/{}", rank, difference);
      }
    }
  };
  if (left == Left::kAll) compare_all(scratch_regions(key_), "scratch", &OfRank::scratch);
  compare_all(peer_regions(key_, half_of(epoch)), "peer", &OfRank::peer);
  return rows;
}

}  // namespace monojit::kernels::kimi_k3
