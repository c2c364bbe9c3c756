#include "kernels/minimax_m3/k1/emit/gemv.h"

#include "kernels/minimax_m3/k1/emit/activations.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kLaneBytes = 16;                      // of a chunk: two MFMA operands
constexpr int kChunkBytes = kRowsPerTask * kChunk;  // weights
constexpr int kWaveBytes = kChunkBytes * kChunksPerWave;
constexpr int kChunksInReach = 4;  // of a load's offset: LLVM makes addresses a lane of what is farther, not a base
constexpr int kRowGroupBytes = kRowsPerTask * kHidden;

// §4.2: a chunk is 1 KiB in the order of the lanes; lane l's 16 bytes are row l mod 16, k = 64 chunk + 16 (l div 16) +
// 0..15.
Operands load_weights(const Context& k, const Uniform<Int32>& row_group) {
  const auto wave_base = pointer_cast<Int32>(at_byte(k.w_qkv, row_group * kRowGroupBytes + wave_id() * kWaveBytes));
  Operands weights;
  for (int first = 0; first < kChunksPerWave; first += kChunksInReach) {
    const Uniform<Ptr<Int32, Global>> base(readfirstlane(Ptr<Int32, Global>(wave_base + first * kChunkBytes / 4)));
    for (int chunk = first; chunk < first + kChunksInReach; ++chunk) {
      const auto lane_base = at_byte(base + (chunk - first) * kChunkBytes / 4, lane_id() * kLaneBytes);
      weights[chunk] = load<4>(lane_base, {.nontemporal = k.key.weight_nt});
    }
  }
  return weights;
}

Vec<Float32, 4> multiply(const Operands& weights, const Operands& activations) {
  Vec<Float32, 4> sum = 0.0F;
  for (int chunk = 0; chunk < kChunksPerWave; ++chunk) {
    const auto& w = weights[chunk];
    const auto& x = activations[chunk];
    sum = mfma_f32_16x16x32_fp8(bitcast<Int64>(w.low()), bitcast<Int64>(x.low()), sum);
    sum = mfma_f32_16x16x32_fp8(bitcast<Int64>(w.high()), bitcast<Int64>(x.high()), sum);
  }
  return sum;
}

}  // namespace

void gemv_task(Context& k, const Uniform<Int32>& row_group) {
  const Int32 thread = thread_id();
  Activations activations(k);
  sched_barrier();  // memory returns in order: the norm's inputs must not queue behind 96 KiB of weights
  const Operands weights = load_weights(k, row_group);
  const Int32 row = thread % kRowsPerTask;
  const Float32 row_scale = load(at_byte(k.s_qkv, (row_group * kRowsPerTask + row) * 4));
  sched_barrier();

  activations.fetch(row_group);
  put_partial_tile(k.red, multiply(weights, activations.operands()));
  barrier();
  If(thread < kRowsPerTask * k.key.tokens, [&] {
    const Int32 token = thread / kRowsPerTask;
    const Float32 out = (sum_partial_tiles(k.red, row, token, kWaves) * activations.scale(token)) * row_scale;
    const Float32 rounded = extend<float>(round_bf16(out));
    k.qkv.put(token * k.rows() + row_group * kRowsPerTask + row, bitcast<Int32>(rounded));
  });
  k.timeline.stamp(Stamp::kProjectionPut);
}

}  // namespace monojit::kernels::minimax_m3
