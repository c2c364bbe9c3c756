#include "kernels/minimax_m3/k1/reference/step_rows.h"

#include <algorithm>
#include <optional>
#include <span>

#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {
namespace {

std::int64_t blocks_of(std::int64_t keys) { return (keys + kBlock - 1) / kBlock; }

bool is_shared(const K1Key& key, std::int64_t blocks) { return key.index_heads > 1 && blocks > kLongBlocks; }

/// Of `scored`, those that belong to rank `own` of `ranks`.
ScoredBlocks share(const ScoredBlocks& scored, int own, int ranks) {
  ScoredBlocks mine = scored;
  mine.shared = true;
  mine.step = ranks;
  const std::int64_t end = scored.first + scored.blocks;
  while (mine.first % ranks != own) ++mine.first;
  mine.blocks = mine.first < end ? (end - mine.first + ranks - 1) / ranks : 0;
  return mine;
}

/// The request whose last row is `last_row` and sees `keys` keys.
ScoredBlocks scored(const K1Key& key, int q_len, int last_row, std::int64_t keys) {
  const std::int64_t blocks = blocks_of(keys);
  ScoredBlocks all{.first_row = last_row - q_len + 1, .last_row = last_row, .first = key.init_blocks};
  if (blocks > kUnscoredBlocks) all.blocks = blocks - key.init_blocks - key.local_blocks;
  return is_shared(key, blocks) ? share(all, key.index_own, key.index_heads) : all;
}

std::vector<ScoredBlocks> requests(const K1Key& key, const std::vector<Tensor>& tensors) {
  const std::int32_t q_len = reference::elements<std::int32_t>(tensors, "q_len")[0];
  const auto lengths = reference::elements<std::int32_t>(tensors, "seq_lens");
  std::vector<ScoredBlocks> all;
  for (int row = q_len - 1; row < key.tokens; row += q_len) {
    all.push_back(scored(key, q_len, row, visible_keys(lengths[static_cast<std::size_t>(row)])));
  }
  return all;
}

}  // namespace

std::vector<ScoredBlocks> scored_blocks(const K1Key& key, const std::vector<Tensor>& tensors) {
  std::vector<ScoredBlocks> all = requests(key, tensors);
  std::erase_if(all, [](const ScoredBlocks& request) { return request.blocks == 0; });
  return all;
}

std::int64_t own_score_tasks(const std::vector<ScoredBlocks>& requests) {
  std::int64_t tasks = 0;
  for (const ScoredBlocks& request : requests) tasks += request.shared ? 0 : request.blocks;
  return tasks;
}

bool is_long_step(const K1Key& key, const std::vector<Tensor>& tensors) {
  return std::ranges::any_of(requests(key, tensors), &ScoredBlocks::shared);
}

std::int64_t score_pair(int row, int head, std::int64_t block, bool shared) {
  const std::int64_t first = std::int64_t{row} * kScorePairs;
  return shared ? first + std::int64_t{head} * kSharedScorePairs + block / kMaxIndexHeads : first + block;
}

}  // namespace monojit::kernels::minimax_m3
