#include "kernels/minimax_m3/k1/reference/scores.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>

#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/head.h"
#include "kernels/minimax_m3/k1/reference/pairs.h"
#include "kernels/minimax_m3/k1/reference/step_rows.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;
using Tensors = std::vector<Tensor>;

/// One query of a request, and the head that its scores stand under.
struct ScoredQuery {
  int row = 0;
  int head = 0;
};

std::vector<ScoredQuery> queries_of(const K1Key& key, const ScoredBlocks& request) {
  std::vector<ScoredQuery> all;
  const int first_head = request.shared ? 0 : key.index_own;
  const int heads = request.shared ? key.index_heads : 1;
  for (int head = first_head; head < first_head + heads; ++head) {
    for (int row = request.first_row; row <= request.last_row; ++row) all.push_back({row, head});
  }
  return all;
}

/// Where a request's keys are, in the order of its blocks.
class RequestKeys {
 public:
  RequestKeys(const Tensors& tensors, int row) : cache_(elements<std::uint8_t>(tensors, "index_cache")) {
    const auto width = static_cast<std::size_t>(reference::named(tensors, "block_table").shape[1]);
    table_ = elements<std::int32_t>(tensors, "block_table").subspan(static_cast<std::size_t>(row) * width, width);
  }
  std::int32_t page(std::int64_t block) const { return table_[static_cast<std::size_t>(block)]; }
  std::span<const std::uint8_t> keys(std::int64_t block) const {
    constexpr std::size_t kBytes = std::size_t{kBlock} * kHeadDim;
    return cache_.subspan(static_cast<std::size_t>(page(block)) * kBytes, kBytes);
  }

 private:
  std::span<const std::uint8_t> cache_;
  std::span<const std::int32_t> table_;
};

void score_request(const K1Key& key, const Chip& chip, Tensors& tensors, const ScoredBlocks& request,
                   reference::MatrixModel model) {
  const std::vector<ScoredQuery> scored = queries_of(key, request);
  std::vector<IndexQuery> queries;
  for (const auto& [row, head] : scored) queries.push_back(index_query(key, tensors, row, head));
  const std::int64_t all_visible = std::ranges::min(queries, {}, &IndexQuery::keys).keys / kBlock;
  BlockScorer scorer(queries, chip, model);
  const RequestKeys keys(tensors, request.last_row);
  const float scale = index_scale(key.sm_scale);
  std::map<std::int32_t, std::vector<float>> known;  // whole pages; a table may name one many times
  for (std::int64_t i = 0; i < request.blocks; ++i) {
    const std::int64_t block = request.block(i);
    std::vector<float> maxima;
    if (const auto found = known.find(keys.page(block)); found != known.end() && block < all_visible) {
      maxima = found->second;
    } else {
      maxima = scorer.maxima(keys.keys(block), block);
      if (block < all_visible) known[keys.page(block)] = maxima;
    }
    for (std::size_t q = 0; q < scored.size(); ++q) {
      put_pair(tensors, "iscore", 0, score_pair(scored[q].row, scored[q].head, block, request.shared),
               std::bit_cast<std::uint32_t>(maxima[q] * scale));
    }
  }
}

void check_request(const K1Key& key, const Chip& chip, const Tensors& after, const ScoredBlocks& request,
                   reference::BoundTracker& tracker) {
  const std::vector<ScoredQuery> scored = queries_of(key, request);
  std::vector<IndexQuery> queries;
  for (const auto& [row, head] : scored) {
    IndexQuery& query = queries.emplace_back(index_query(key, after, row, head));
    if (head != key.index_own) continue;
    const auto own = elements<BFloat16Bits>(after, "iq_out");
    std::ranges::copy(own.subspan(static_cast<std::size_t>(row) * kHeadDim, kHeadDim), query.dims.begin());
  }
  const RequestKeys keys(after, request.last_row);
  const double scale = index_scale(key.sm_scale);
  const auto rounded = [&](double dot) { return static_cast<float>(dot) * static_cast<float>(scale); };
  for (std::int64_t i = 0; i < request.blocks; ++i) {
    const std::int64_t block = request.block(i);
    const std::vector<WideScore> scores = wide_block_maxima(keys.keys(block), block, queries, chip.format);
    for (std::size_t q = 0; q < scored.size(); ++q) {
      const float stored = std::bit_cast<float>(
          stored_pair(after, "iscore", 0, score_pair(scored[q].row, scored[q].head, block, request.shared)).value);
      tracker.add(stored, scores[q].value * scale, rounded(scores[q].low), rounded(scores[q].high));
    }
  }
}

}  // namespace

IndexQuery index_query(const K1Key& key, const Tensors& tensors, int row, int index_head) {
  std::array<float, kHeadDim> head{};
  for (int d = 0; d < kHeadDim; ++d) head[d] = projected(tensors, row, index_q_head(index_head) * kHeadDim + d);
  const auto position = static_cast<std::int32_t>(elements<std::int64_t>(tensors, "positions")[row]);
  const auto cos_sin =
      elements<BFloat16Bits>(tensors, "cos_sin").subspan(static_cast<std::size_t>(position) * kRotaryDim, kRotaryDim);
  IndexQuery query;
  std::ranges::transform(norm_and_rotate(head, elements<BFloat16Bits>(tensors, "g_iq"), cos_sin, key.eps),
                         std::back_inserter(query.dims), reference::bf16_bits);
  query.keys = visible_keys(elements<std::int32_t>(tensors, "seq_lens")[row]);
  return query;
}

void score_step(const K1Key& key, const Chip& chip, Tensors& tensors, reference::MatrixModel model) {
  for (const ScoredBlocks& request : scored_blocks(key, tensors)) score_request(key, chip, tensors, request, model);
}

void check_scores(const K1Key& key, const Chip& chip, const Tensors& after, reference::BoundTracker& tracker) {
  for (const ScoredBlocks& request : scored_blocks(key, after)) check_request(key, chip, after, request, tracker);
}

}  // namespace monojit::kernels::minimax_m3
