#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/region.h"
#include "kernels/kimi_k3/k2/key.h"

/// The regions of a launch's memory word by word, wanted and found.
namespace monojit::kernels::kimi_k3 {

/// Of a launch's scratch.
std::vector<Region> scratch_regions(const K2Key& key);
/// Of the half of a peer buffer that begins at `half`, with offsets from the start of the buffer.
std::vector<Region> peer_regions(const K2Key& key, std::size_t half);

std::span<const std::uint32_t> words_of(const Region& region, std::span<const std::byte> memory);

/// Whether word `i` of a region of pairs is a tag.
bool is_tag(const Region& region, std::size_t i);
/// Whether two words of a region, its word `i`, mean the same: bits, but for values that are NaNs, whose payload
/// nothing specifies.
bool same_word(const Region& region, std::size_t i, std::uint32_t want, std::uint32_t got);

/// Words of a region that differ.
struct Differing {
  std::size_t count = 0;
  std::size_t first = 0;
};
Differing differing(const Region& region, std::span<const std::byte> want, std::span<const std::byte> got);

/// "lat: 3 words differ, first [token 0][word 7]: 0x00000000, expected 0x3f803f80".
std::string difference_text(const Region& region, const Differing& found, std::uint32_t want, std::uint32_t got);

}  // namespace monojit::kernels::kimi_k3
