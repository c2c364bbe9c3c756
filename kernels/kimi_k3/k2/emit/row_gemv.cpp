#include "kernels/kimi_k3/k2/emit/row_gemv.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kOperands = 4;  // of a chunk
constexpr int kOperandColumns = 32;
constexpr int kLaneColumns = 8;
constexpr int kElementBytes = 2;

Int32 lane_row() { return lane_id() % kTileRows; }
Int32 lane_column() { return lane_id() / kTileRows * kLaneColumns; }

bool is_partial(GemvShape shape, int round) { return shape.has_masked_round() && round == shape.rounds() - 1; }

Uniform<Int32> chunk_of(int round) { return wave_id() + round * kWaves; }

/// `work` of a round, on the waves that have a chunk in it.
template <class Work>
void on_live_waves(GemvShape shape, int round, Work&& work) {
  if (is_partial(shape, round)) {
    If(chunk_of(round) < shape.chunks(), [&] { work(); });
  } else {
    work();
  }
}

}  // namespace

RowWeights::RowWeights(GemvShape shape) : shape_(shape) {
  for (int i = 0; i < shape.rounds() * kOperands; ++i) operands_.emplace_back();
}

RowWeights::RowWeights(const Uniform<Ptr<BFloat16, Global>>& matrix, const Uniform<Int32>& group, int pitch,
                       const Uniform<Int32>& first_k, GemvShape shape)
    : RowWeights(shape) {
  fetch(matrix, group, pitch, first_k);
}

// The round that not every wave has comes first: waits for the others then need not reckon with its loads.
void RowWeights::fetch(const Uniform<Ptr<BFloat16, Global>>& matrix, const Uniform<Int32>& group, int pitch,
                       const Uniform<Int32>& first_k) {
  const auto rows = matrix + (group * (kTileRows * pitch) + first_k);
  const Int32 lane_byte = (lane_row() * pitch + lane_column()) * kElementBytes;
  for (int i = 0; i < shape_.rounds(); ++i) {
    const int round = (i + shape_.rounds() - 1) % shape_.rounds();
    on_live_waves(shape_, round, [&] {
      const auto lane = at_byte(rows + chunk_of(round) * kChunk, lane_byte);
      for (int q = 0; q < kOperands; ++q) {
        operands_[static_cast<std::size_t>(round * kOperands + q)] =
            load<kLaneColumns>(lane + q * kOperandColumns, {.nontemporal = true});
      }
    });
  }
}

Vec<Float32, 4> RowWeights::multiply(const Context& k) const {
  const Int32 token = min(lane_row(), k.tokens() - 1);
  const Int32 row = token * (shape_.k + kRowPad) + lane_column();
  Var<Vec<Float32, 4>> sum{0.0F};
  for (int round = 0; round < shape_.rounds(); ++round) {
    on_live_waves(shape_, round, [&] {
      const auto chunk = k.lds.rows + (row + chunk_of(round) * kChunk);
      for (int q = 0; q < kOperands; ++q) {
        sum = mfma_f32_16x16x32_bf16(operands_[static_cast<std::size_t>(round * kOperands + q)],
                                     load<kLaneColumns>(chunk + q * kOperandColumns), sum);
      }
    });
  }
  return sum;
}

void copy_rows(const Context& k, int columns, const RowSource& source) {
  const int pieces = columns / kLaneColumns;
  const int total = k.tokens() * pieces;
  struct Piece {
    Int32 token, column;
    Vec<Int32, 4> elements;
  };
  std::vector<Piece> all;
  for (int first = 0; first < total; first += kThreads) {
    const Int32 item = min(thread_id() + first, total - 1);
    const Int32 token = udiv(item, pieces);
    const Int32 column = (item - token * pieces) * kLaneColumns;
    all.push_back({token, column, source(token, column)});
  }
  const auto put = [&](const Piece& piece) {
    store(pointer_cast<Int32>(k.lds.rows + (piece.token * (columns + kRowPad) + piece.column)), piece.elements);
  };
  const int whole_rounds = total / kThreads;
  for (int round = 0; round < whole_rounds; ++round) put(all[static_cast<std::size_t>(round)]);
  if (whole_rounds * kThreads < total) If(thread_id() < total - whole_rounds * kThreads, [&] { put(all.back()); });
}

void for_row_pairs(const Context& k, const RowWeights& weights, const std::function<void(const RowPair&)>& use) {
  constexpr int kPairs = kTileRows / 2;
  put_partial_tile(k.lds.red, weights.multiply(k));
  barrier();
  If(thread_id() < kPairs * k.tokens(), [&] {
    const Int32 token = thread_id() / kPairs;
    const Int32 pair = thread_id() % kPairs;
    use({.token = token, .row = pair * 2, .values = sum_partial_row_pair(k.lds.red, pair, token, kWaves)});
  });
}

void for_rows(const Context& k, const RowWeights& weights, const std::function<void(const RowValue&)>& use) {
  put_partial_tile(k.lds.red, weights.multiply(k));
  barrier();
  If(thread_id() < kTileRows * k.tokens(), [&] {
    const Int32 token = thread_id() / kTileRows;
    const Int32 row = thread_id() % kTileRows;
    use({.token = token, .row = row, .value = sum_partial_tiles(k.lds.red, row, token, kWaves)});
  });
}

}  // namespace monojit::kernels::kimi_k3
