#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels::minimax_m3 {

/// The requests that the rows of a step belong to.
struct Requests {
  int q_len = 1;                           ///< rows of each
  std::vector<std::int64_t> lengths = {};  ///< keys of each, those of this step included; 0: padding. Fewer than there
                                           ///< are requests: from the first one again
};

/// Blocks that the caches of K and V hold: enough for the new keys. The index cache has more.
inline constexpr std::int64_t kInsertBlocks = 64;

/// Sets everything that tells of requests: q_len, seq_lens, positions, slots, the block table and its width, and an
/// index cache full of finite keys. Blocks are shuffled; those that get new keys lie below kInsertBlocks and belong to
/// one request, the others are named more than once when there are too many for a cache of moderate size. Table entries
/// that nobody may read are garbage. Positions are those of the keys, modulo the rows of cos_sin.
void set_requests(const K1Key& key, std::string_view arch, std::uint64_t seed, const Requests& requests,
                  std::vector<Tensor>& tensors);

/// Requests as an engine's step may have them: by seed no scores at all, up to 256 tasks, more, a long request among
/// others, or lengths around the edges of blocks.
Requests random_requests(const K1Key& key, std::uint64_t seed);

}  // namespace monojit::kernels::minimax_m3
