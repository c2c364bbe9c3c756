#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

/// Which blocks of which rows a launch scores (specification §8.2, §8.7).
namespace monojit::kernels::minimax_m3 {

/// Keys that a row sees: a padding row counts as one of 1 key.
constexpr std::int64_t visible_keys(std::int32_t seq_len) { return seq_len > 1 ? seq_len : 1; }

/// The scored blocks of one request: `blocks` of them, first, first + step, ... A request has q_len rows, scored
/// together; its last row's length decides.
struct ScoredBlocks {
  int first_row = 0;
  int last_row = 0;
  bool shared = false;  ///< long with four index heads: this rank scores every fourth block, for all heads
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t blocks = 0;

  std::int64_t block(std::int64_t i) const { return first + step * i; }
};

/// The requests that have scored blocks, by rising rows. `tensors` hold one for every argument.
std::vector<ScoredBlocks> scored_blocks(const K1Key& key, const std::vector<Tensor>& tensors);

/// The number of score tasks in the list of own blocks (§8.3): up to 256 of them take one workgroup each.
std::int64_t own_score_tasks(const std::vector<ScoredBlocks>& requests);

/// Whether some row's request is long, which makes the rank project the other index queries too.
bool is_long_step(const K1Key& key, const std::vector<Tensor>& tensors);

/// Whether a launch waits for its own index keys before it scores block `block` of a request with `keys` keys (§8.6).
constexpr bool waits_for_new_keys(const K1Key& key, std::int64_t block, std::int64_t keys) {
  return key.signal && 128 * (block + 1) > keys - 16;
}

/// Where the score of block `block` of `row` lies: pair of iscore. `head` counts for shared requests only.
std::int64_t score_pair(int row, int head, std::int64_t block, bool shared);

}  // namespace monojit::kernels::minimax_m3
