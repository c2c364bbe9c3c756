#include "kernels/kimi_k3/k2/reference/compare.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/region_words.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::BFloat16Bits;
using reference::BoundTracker;
using Bytes = std::span<const std::byte>;

/// Bytes of a memory that no region covers and that differ.
std::size_t differing_outside(std::span<const Region> regions, Bytes want, Bytes got) {
  std::size_t count = 0;
  std::size_t at = 0;
  const auto count_to = [&](std::size_t end) {
    for (; at < end; ++at) count += want[at] != got[at] ? 1 : 0;
  };
  for (const Region& region : regions) {
    count_to(static_cast<std::size_t>(region.offset));
    at = static_cast<std::size_t>(region.end());
  }
  count_to(want.size());
  return count;
}

/// prefix and out as regions of their own memory.
Region rows_region(std::string_view name, int tokens) {
  Placer at;
  return at.place(name, Content::kBFloat16, {{"token", tokens}, {"column", kHidden}}, "");
}

/// FNV-1a over 64-bit words.
std::uint64_t digest_of(std::uint64_t hash, Bytes bytes) {
  constexpr std::uint64_t kPrime = 0x100000001B3U;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof(word), bytes.size() - i));
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  return hash;
}

bool is_expert_weight(std::string_view name) {
  return name == "w13" || name == "w13s" || name == "w2" || name == "w2s";
}

std::uint64_t inputs_digest(const K2Key& key, const RankMemory& rank) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const TensorShape& shape : rank_shapes(key)) {
    if (!shape.written && !is_expert_weight(shape.name)) hash = digest_of(hash, rank.view(shape.name).bytes);
  }
  return hash;
}

/// What check_wide() says of a region.
const BoundTracker* wide_row(const WideCheck& wide, std::string_view name) {
  const std::pair<std::string_view, const BoundTracker*> rows[] = {
      {"ar", &wide.ar},        {"prefix", &wide.prefix}, {"xrow", &wide.xrow}, {"sgu", &wide.sgu},
      {"h", &wide.h},          {"rlog", &wide.rlog},     {"lat", &wide.lat},   {"route", &wide.route},
      {"inter", &wide.inter},  {"latr", &wide.latr},     {"ln", &wide.ln},     {"shp", &wide.shp},
      {"final", &wide.final_}, {"out", &wide.out}};
  const auto* const found = std::ranges::find(rows, name, &std::pair<std::string_view, const BoundTracker*>::first);
  return found == std::end(rows) ? nullptr : found->second;
}

Bytes bytes_of(const std::vector<BFloat16Bits>& row) { return std::as_bytes(std::span(row)); }

/// The regions of a rank with the memory that they lie in, wanted and found.
struct Checked {
  Region region;
  Bytes want;
  Bytes got;
};
std::vector<Checked> checked(const K2Key& key, const RankResult& want, const RankResult& got, std::size_t half) {
  std::vector<Checked> result = {{rows_region("prefix", key.tokens), bytes_of(want.prefix), bytes_of(got.prefix)},
                                 {rows_region("out", key.tokens), bytes_of(want.out), bytes_of(got.out)}};
  for (const Region& region : scratch_regions(key)) result.push_back({region, want.scratch, got.scratch});
  for (const Region& region : peer_regions(key, half)) result.push_back({region, want.peer, got.peer});
  return result;
}

Comparison plain_row(std::string_view name, std::size_t elements, std::size_t mismatches) {
  return {std::string(name), elements, mismatches, 0, 0, mismatches == 0};
}

std::size_t set_health_words(const RankMemory& rank) {
  std::size_t count = 0;
  for (const std::int32_t word : rank.of<const std::int32_t>("health")) count += word != 0 ? 1 : 0;
  return count;
}

}  // namespace

GroupResult read_results(const GroupMemory& memory) {
  GroupResult results;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto copy = [&]<class T>(std::vector<T>& to, std::string_view name) {
      const auto from = memory[rank].of<const T>(name);
      to.assign(from.begin(), from.end());
    };
    copy(results[rank].prefix, "prefix");
    copy(results[rank].out, "out");
    copy(results[rank].scratch, "scratch");
    copy(results[rank].peer, "peer");
  }
  return results;
}

GroupExpectation::GroupExpectation(const K2Key& key, const GroupMemory& before, reference::MatrixModel model)
    : key_(key), results_(run_group(key, before, model)) {
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto prefix = before[rank].of<const BFloat16Bits>("prefix");
    prefix_before_[rank].assign(prefix.begin(), prefix.end());
    inputs_digest_[rank] = inputs_digest(key, before[rank]);
  }
}

bool GroupExpectation::is_exactly(const GroupMemory& after) const {
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto same = [&]<class T>(const std::vector<T>& want, std::string_view name) {
      return std::memcmp(want.data(), after[rank].view(name).bytes.data(), want.size() * sizeof(T)) == 0;
    };
    const RankResult& want = results_[rank];
    if (!same(want.prefix, "prefix") || !same(want.out, "out") || !same(want.scratch, "scratch") ||
        !same(want.peer, "peer")) {
      return false;
    }
    if (inputs_digest(key_, after[rank]) != inputs_digest_[rank] || set_health_words(after[rank]) != 0) return false;
  }
  return true;
}

std::vector<Comparison> GroupExpectation::compare(const GroupMemory& after) const {
  const GroupResult got = read_results(after);
  const WideCheck wide = check_wide(key_, after, prefix_before_, got);
  std::vector<Comparison> rows;
  std::size_t scratch = 0;
  std::size_t peer = 0;
  std::size_t inputs = 0;
  std::size_t health = 0;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const std::size_t half = half_offset(after[rank]);
    std::size_t index = 0;
    for (const Checked& item : checked(key_, results_[rank], got[rank], half)) {
      if (rank == 0) rows.push_back(plain_row(item.region.name, 0, 0));
      rows[index].elements += static_cast<std::size_t>(item.region.bytes()) / 4;
      rows[index++].mismatches += differing(item.region, item.want, item.got).count;
    }
    scratch += differing_outside(scratch_regions(key_), results_[rank].scratch, got[rank].scratch);
    peer += differing_outside(peer_regions(key_, half), results_[rank].peer, got[rank].peer);
    inputs += inputs_digest(key_, after[rank]) != inputs_digest_[rank] ? 1 : 0;
    health += set_health_words(after[rank]);
  }
  for (Comparison& row : rows) {
    const BoundTracker* const tracker = row.name == "out" && !key_.reduce ? nullptr : wide_row(wide, row.name);
    if (tracker != nullptr) {
      row.max_error = tracker->error();
      row.bound = tracker->bound();
    }
    row.ok = row.mismatches == 0 && (tracker == nullptr || tracker->within());
  }
  rows.push_back(plain_row("scratch", kRanks * results_[0].scratch.size(), scratch));
  rows.push_back(plain_row("peer", kRanks * results_[0].peer.size(), peer));
  rows.push_back(plain_row("inputs", kRanks, inputs));
  rows.push_back(plain_row("health", kRanks * after[0].of<const std::int32_t>("health").size(), health));
  return rows;
}

std::vector<std::string> GroupExpectation::differences(const GroupMemory& after) const {
  const GroupResult got = read_results(after);
  std::vector<std::string> lines;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (const Checked& item : checked(key_, results_[rank], got[rank], half_offset(after[rank]))) {
      const Differing found = differing(item.region, item.want, item.got);
      if (found.count == 0) continue;
      lines.push_back(fmt::format("rank{}/{}", rank,
                                  difference_text(item.region, found, words_of(item.region, item.want)[found.first],
                                                  words_of(item.region, item.got)[found.first])));
    }
  }
  return lines;
}

}  // namespace monojit::kernels::kimi_k3
