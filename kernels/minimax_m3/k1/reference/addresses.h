#pragma once

#include <cstdint>

#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/layout.h"

/// Where K1's operands lie (specification §4.2, §4.3).
namespace monojit::kernels::minimax_m3 {

/// Byte of projection weight (row n, input k): groups of 16 rows; in a group 16-wide steps of k; in a step 16 bytes a
/// row.
constexpr std::int64_t weight_byte(std::int64_t n, std::int64_t k) {
  return 512 * ((n / 16) * 192 + k / 32) + 256 * ((k % 32) / 16) + 16 * (n % 16) + k % 16;
}

/// A token's place in the paged caches.
struct CachePlace {
  std::int64_t slot = 0;
  std::int64_t page = 0;   ///< of 16 tokens; also the row of the scale arrays
  std::int64_t token = 0;  ///< in its page
};

constexpr CachePlace cache_place(std::int64_t slot, int page_stride) {
  const std::int64_t block = slot / kBlock;
  const std::int64_t offset = slot % kBlock;
  const std::int64_t page = page_stride == 8 ? slot / kPageTokens : block * page_stride + offset / kPageTokens;
  return {slot, page, slot % kPageTokens};
}

constexpr std::int64_t k_cache_byte(const CachePlace& place, std::int64_t d) {
  return kPageBytes * place.page + 256 * (d / 16) + 16 * place.token + d % 16;
}
constexpr std::int64_t v_cache_byte(const CachePlace& place, std::int64_t d) {
  return kPageBytes * place.page + kPageTokens * d + place.token;
}
constexpr std::int64_t index_cache_byte(const CachePlace& place, std::int64_t d) { return kHeadDim * place.slot + d; }
constexpr std::int64_t scale_index(const CachePlace& place) { return kPageTokens * place.page + place.token; }

/// The byte that a kernel reaches: without 64-bit page addresses, cache offsets wrap at 4 GiB.
constexpr std::int64_t reached_byte(std::int64_t byte, bool page_base64) {
  return page_base64 ? byte : byte & 0xFFFFFFFF;
}

}  // namespace monojit::kernels::minimax_m3
