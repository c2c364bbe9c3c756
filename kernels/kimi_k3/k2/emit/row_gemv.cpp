#include "kernels/kimi_k3/k2/emit/row_gemv.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kOperands = 4;  // of a chunk
constexpr int kOperandColumns = 32;
constexpr int kLaneColumns = 8;
constexpr int kElementBytes = 2;

Int32 lane_row() { return lane_id() % kTileRows; }
Int32 lane_column() { return lane_id() / kTileRows * kLaneColumns; }

using Operand = Vec<BFloat16, 8>;

Operand or_zero(const Uniform<Bool>& live, const Operand& operand) {
  return bitcast<Operand>(select(live, bitcast<Vec<Int32, 4>>(operand), Vec<Int32, 4>(0)));
}

bool is_masked(GemvShape shape, int round) { return shape.has_masked_round() && round == shape.rounds() - 1; }

// The wave's chunk of a round; where there is none, the last one, which can be read.
Uniform<Int32> known_chunk(GemvShape shape, int round) {
  const Uniform<Int32> chunk = wave_id() + round * kWaves;
  return is_masked(shape, round) ? min(chunk, shape.chunks() - 1) : chunk;
}

}  // namespace

RowWeights::RowWeights(const Uniform<Ptr<BFloat16, Global>>& matrix, const Uniform<Int32>& group, int pitch,
                       const Uniform<Int32>& first_k, GemvShape shape)
    : shape_(shape) {
  const auto rows = matrix + (group * (kTileRows * pitch) + first_k);
  const Int32 lane_byte = (lane_row() * pitch + lane_column()) * kElementBytes;
  for (int round = 0; round < shape.rounds(); ++round) {
    const auto lane = at_byte(rows + known_chunk(shape, round) * kChunk, lane_byte);
    for (int q = 0; q < kOperands; ++q) {
      operands_.push_back(load<kLaneColumns>(lane + q * kOperandColumns, {.nontemporal = true}));
    }
  }
}

// A round without a chunk multiplies with zeros.
Vec<Float32, 4> RowWeights::multiply(const Context& k) const {
  const Int32 token = min(lane_row(), k.tokens() - 1);
  const Int32 row = token * (shape_.k + kRowPad) + lane_column();
  Vec<Float32, 4> sum = 0.0F;
  for (int round = 0; round < shape_.rounds(); ++round) {
    const auto chunk = k.lds.rows + (row + known_chunk(shape_, round) * kChunk);
    for (int q = 0; q < kOperands; ++q) {
      Operand x = load<kLaneColumns>(chunk + q * kOperandColumns);
      if (is_masked(shape_, round)) x = or_zero(wave_id() + round * kWaves < shape_.chunks(), x);
      sum = mfma_f32_16x16x32_bf16(operands_[static_cast<std::size_t>(round * kOperands + q)], x, sum);
    }
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
