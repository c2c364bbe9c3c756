#include "kernels/minimax_m3/k1/emit/gemv.h"

#include <array>

#include "kernels/minimax_m3/k1/emit/norm.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kLaneBytes = 16;                      // of a chunk: two MFMA operands
constexpr int kChunkBytes = kRowsPerTask * kChunk;  // weights
constexpr int kWaveBytes = kChunkBytes * kChunksPerWave;
constexpr int kRowGroupBytes = kRowsPerTask * kHidden;

using Operands = Vec<Int32, 4>;
using Weights = std::array<Operands, kChunksPerWave>;

// §4.2: a chunk is 1 KiB in the order of the lanes; lane l's 16 bytes are row l mod 16, k = 64 chunk + 16 (l div 16) +
// 0..15.
Weights load_weights(const Context& k, const Uniform<Int32>& row_group) {
  const auto wave_base = k.w_qkv + (row_group * kRowGroupBytes + wave_id() * kWaveBytes);
  const auto lane_base = pointer_cast<Int32>(wave_base + lane_id() * kLaneBytes);
  Weights weights;
  for (int chunk = 0; chunk < kChunksPerWave; ++chunk) {
    weights[chunk] = load<4>(lane_base + chunk * kChunkBytes / 4, {.nontemporal = k.key.weight_nt});
  }
  return weights;
}

// Columns beyond the last token repeat it and are dropped.
Vec<Float32, 4> multiply(const Context& k, const Weights& weights) {
  const Int32 column = lane_id() % kRowsPerTask;
  const Int32 group = lane_id() / kRowsPerTask;
  const Int32 row = min(column, k.key.tokens - 1) * kActivationPitch;
  const auto activations = k.x8 + (row + group * kLaneBytes + wave_id() * (kChunk * kChunksPerWave));
  Vec<Float32, 4> sum = 0.0F;
  for (int chunk = 0; chunk < kChunksPerWave; ++chunk) {
    const Operands x = load<4>(pointer_cast<Int32>(activations + chunk * kChunk));
    const Operands& w = weights[chunk];
    sum = mfma_f32_16x16x32_fp8(bitcast<Int64>(w.low()), bitcast<Int64>(x.low()), sum);
    sum = mfma_f32_16x16x32_fp8(bitcast<Int64>(w.high()), bitcast<Int64>(x.high()), sum);
  }
  return sum;
}

// Element `row` of column `token` lies in item row mod 4 of lane 16 (row div 4) + token of each wave.
Float32 wave_order_sum(const Context& k, const Int32& row, const Int32& token) {
  const auto partials = k.red + (row / 4 * (4 * kRowsPerTask) + token * 4 + row % 4);
  Float32 sum = 0.0F;
  for (int wave = 0; wave < kWaves; ++wave) sum = sum + load(partials + wave * (kRedWords / kWaves));
  return sum;
}

}  // namespace

void gemv_task(Context& k, const Uniform<Int32>& row_group) {
  const int tokens = k.key.tokens;
  const Int32 thread = thread_id();
  Norm norm(k);
  sched_barrier();  // memory returns in order: the norm's inputs must not queue behind 96 KiB of weights
  const Weights weights = load_weights(k, row_group);
  const Int32 row = thread % kRowsPerTask;
  const Float32 row_scale = load(k.s_qkv + (row_group * kRowsPerTask + row));
  sched_barrier();

  for (int token = 0; token < tokens; ++token) {
    If(row_group == token, [&] { norm.store_residual(token); });
  }
  const std::vector<Float32> scales = norm.quantise();
  store(k.red + thread * 4, multiply(k, weights));
  barrier();
  If(thread < kRowsPerTask * tokens, [&] {
    const Int32 token = thread / kRowsPerTask;
    const Float32 scale = tokens == 1 ? scales[0] : select(token == 0, scales[0], scales[1]);
    const Float32 out = (wave_order_sum(k, row, token) * scale) * row_scale;
    const Float32 rounded = extend<float>(round_bf16(out));
    k.qkv.put(token * projection_rows(k.key.index_heads) + row_group * kRowsPerTask + row, bitcast<Int32>(rounded));
  });
  k.timeline.stamp(Stamp::kProjectionPut);
}

}  // namespace monojit::kernels::minimax_m3
