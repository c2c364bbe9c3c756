#include "kernels/minimax_m3/k1/emit/step_rows.h"

namespace monojit::kernels::minimax_m3 {

namespace {

Int32 sum_of_lanes_before(const Int32& value, int rows) {
  Int32 sum = value;
  for (int distance = 1; distance < rows; distance *= 2) {
    sum = sum + dpp(DppControl::row_shr(distance), Int32(0), sum);
  }
  return sum;
}

// Whether a row is the last one of its request. The quotient's error is far below a half, so the rounded one is exact
// where there is no remainder.
Bool is_last(const Context& k, const Int32& row) {
  if (!k.key.signal) return row < k.key.tokens;
  const Float32 requests = convert<float>(row + 1) * rcp(convert<float>(k.q_len));
  return (convert<Int32>(round_even(requests)) * k.q_len == row + 1) & (row < k.key.tokens);
}

}  // namespace

TaskList::TaskList(const Int32& blocks, int rows) : rows_(rows) {
  end_ = sum_of_lanes_before(blocks, rows);
  begin_ = end_ - blocks;
  size_ = readlane(end_, rows - 1);
}

Uniform<Int32> TaskList::row(const Uniform<Int32>& task) const {
  return bit_count(ballot((lane_id() < rows_ - 1) & (end_ <= task)));
}

Int32 TaskList::row(const Int32& task) const {
  Int32 row = 0;
  for (int i = 0; i < rows_ - 1; ++i) row = row + select(readlane(end_, i) <= task, Int32(1), Int32(0));
  return row;
}

Uniform<Int32> TaskList::within_row(const Uniform<Int32>& task, const Uniform<Int32>& row) const {
  return task - readlane(begin_, row);
}

Int32 TaskList::within_row(const Int32& task, const Int32& row) const { return task - shuffle(begin_, row); }

StepRows::StepRows(const Context& k) : k_(k) {
  const Int32 row = k.key.tokens == 1 ? Int32(0) : lane_id() % kMaxTokens;
  keys_ = max(load(k.seq_lens + min(row, k.key.tokens - 1)), 1);
  const Int32 blocks = shr_logical(keys_ + (kBlock - 1), 7);
  const Bool last = is_last(k, row);
  scored_ = select(last & (blocks > kUnscoredBlocks), blocks - (k.key.init_blocks + k.key.local_blocks), Int32(0));
  long_ = last & (blocks > kLongBlocks);
}

Uniform<Bool> StepRows::any_scored() const { return any(scored_ > 0); }

Uniform<Bool> StepRows::any_long() const { return any(long_); }

TaskList StepRows::own_tasks() const {
  const bool shared = k_.key.index_heads > 1;
  return {shared ? select(long_, Int32(0), scored_) : scored_, k_.key.tokens};
}

int StepRows::first_shared_block(const Context& k) {
  const int behind = (k.key.index_own - k.key.init_blocks) % kMaxIndexHeads;
  return k.key.init_blocks + (behind + kMaxIndexHeads) % kMaxIndexHeads;
}

// Blocks init .. init + scored - 1 that are index_own modulo 4.
TaskList StepRows::shared_tasks() const {
  const Int32 count = (max(scored_ + (k_.key.init_blocks - first_shared_block(k_) + kMaxIndexHeads - 1), 0)) >> 2;
  return {select(long_, count, Int32(0)), k_.key.tokens};
}

}  // namespace monojit::kernels::minimax_m3
