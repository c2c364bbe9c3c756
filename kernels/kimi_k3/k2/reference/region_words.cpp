#include "kernels/kimi_k3/k2/reference/region_words.h"

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/kimi_k3/k2/layout.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::BFloat16Bits;
using Bytes = std::span<const std::byte>;
using Words = std::span<const std::uint32_t>;

bool is_nan(std::uint32_t bits) { return (bits & 0x7FFFFFFFU) > 0x7F800000U; }

bool same_bf16_pair(std::uint32_t a, std::uint32_t b) {
  const auto same_half = [&](int shift) {
    return reference::same_bf16(static_cast<BFloat16Bits>(a >> shift), static_cast<BFloat16Bits>(b >> shift));
  };
  return same_half(0) && same_half(16);
}

/// Whether two values mean the same: bits, but for NaNs, whose payload nothing specifies.
bool same_value(const Region& region, std::uint32_t want, std::uint32_t got) {
  if (want == got) return true;
  switch (region.content) {
    case Content::kBFloat16Pair:
    case Content::kBFloat16:
      return same_bf16_pair(want, got);
    case Content::kFloat32Pair:
    case Content::kFloat32:
      return is_nan(want) && is_nan(got);
    case Content::kWordPair:
      return region.name == "route" && is_nan(want) && is_nan(got);  // its weights; ids are small
    case Content::kInt32:
    case Content::kFp8:
      break;
  }
  return false;
}

std::string indices_text(const Region& region, std::size_t word) {
  std::size_t element = region.content == Content::kBFloat16 ? 2 * word : (is_pair(region.content) ? word / 2 : word);
  std::string text;
  for (int axis = region.rank - 1; axis >= 0; --axis) {
    const auto extent = static_cast<std::size_t>(region.axes[axis].extent);
    text = fmt::format("[{} {}]", region.axes[axis].name, element % extent) + text;
    element /= extent;
  }
  return text;
}

}  // namespace

std::vector<Region> scratch_regions(const K2Key& key) {
  const ScratchLayout s = scratch_layout(key.tokens, key.nblocks);
  return {s.part,  s.wgt, s.msq,  s.xrdy,  s.sgu,   s.h,  s.rpart, s.lpart, s.route,
          s.inter, s.isc, s.lmsq, s.lnrdy, s.shrdy, s.ln, s.shp,   s.xrow};
}

std::vector<Region> peer_regions(const K2Key& key, std::size_t half) {
  const PeerLayout p = peer_layout(key.tokens);
  std::vector<Region> regions = {p.ar, p.rlog, p.lat, p.latr, p.final_};
  for (Region& region : regions) region.offset += static_cast<std::int64_t>(half);
  return regions;
}

Words words_of(const Region& region, Bytes memory) {
  return {reinterpret_cast<const std::uint32_t*>(memory.data() + region.offset),
          static_cast<std::size_t>(region.bytes()) / 4};
}

bool is_tag(const Region& region, std::size_t i) { return is_pair(region.content) && i % 2 == 1; }

bool same_word(const Region& region, std::size_t i, std::uint32_t want, std::uint32_t got) {
  return is_tag(region, i) ? want == got : same_value(region, want, got);
}

Differing differing(const Region& region, Bytes want_memory, Bytes got_memory) {
  const Words want = words_of(region, want_memory);
  const Words got = words_of(region, got_memory);
  Differing result;
  if (std::memcmp(want.data(), got.data(), want.size_bytes()) == 0) return result;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (same_word(region, i, want[i], got[i])) continue;
    if (result.count++ == 0) result.first = i;
  }
  return result;
}

std::string difference_text(const Region& region, const Differing& found, std::uint32_t want, std::uint32_t got) {
  return fmt::format("{}: {} words differ, first {}{}: {:#010x}, expected {:#010x}", region.name, found.count,
                     indices_text(region, found.first), is_tag(region, found.first) ? " tag" : "", got, want);
}

}  // namespace monojit::kernels::kimi_k3
