#include "kernels/minimax_m3/k1/emit/score_columns.h"

#include "kernels/minimax_m3/k1/emit/index_query.h"

namespace monojit::kernels::minimax_m3 {

namespace {

Int32 column() { return lane_id() % kTileColumns; }

// Exact for the small numbers here: half a step away from every whole quotient.
Int32 divided_by_q_len(const Context& k, const Int32& value) {
  if (!k.key.signal) return value;
  return convert<Int32>((convert<float>(value) + 0.5F) * rcp(convert<float>(k.q_len)));
}

}  // namespace

ScoreColumns own_columns(const Context& k, const StepRows& rows, const Uniform<Int32>& last,
                         const Uniform<Int32>& block) {
  const Int32 row = last - (k.q_len - 1) + min(column(), k.q_len - 1);
  return {.query_row = own_query_row(k, row),
          .keys = shuffle(rows.keys(), row),
          .pair = row * kScorePairs + block,
          .stores = lane_id() < k.q_len};
}

ScoreColumns shared_columns(const Context& k, const StepRows& rows, const Uniform<Int32>& last,
                            const Uniform<Int32>& block, int pass) {
  const Int32 all = column() + pass * kTileColumns;
  const Int32 known = min(all, k.q_len * kMaxIndexHeads - 1);
  const Int32 head = divided_by_q_len(k, known);
  const Int32 row = last - (k.q_len - 1) + (known - head * k.q_len);
  return {.query_row = query_row(row, head),
          .keys = shuffle(rows.keys(), row),
          .pair = row * kScorePairs + head * kSharedScorePairs + (block >> 2),
          .stores = (lane_id() < kTileColumns) & (all == known)};
}

}  // namespace monojit::kernels::minimax_m3
