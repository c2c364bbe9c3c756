#include "kernels/kimi_k3/k2/emit/expert_gate_up.h"

#include "kernels/common/emit/ping_pong.h"
#include "kernels/kimi_k3/k2/emit/activation.h"
#include "kernels/kimi_k3/k2/emit/expert_tile.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kSteps = kLatent / kChunk;  // 28, half of them a wave's
constexpr int kWaveSteps = kSteps / 2;
constexpr int kRowGroups = 2 * kIntermediate / kRowsPerTask;  // gate's, then up's
constexpr int kScaleBytes = kWaveLanes * 4;                   // of two row groups, two steps
constexpr std::int64_t kWeightBytes = std::int64_t{kExperts} * kRowGroups * kSteps * kTileBytes;
constexpr std::int64_t kAllScaleBytes = std::int64_t{kExperts} * (kRowGroups / 2) * (kSteps / 2) * kScaleBytes;
constexpr int kTaskColumns = 32;
constexpr int kLatentWords = kLatent / kFp4WordValues;
using Tiles = ExpertTiles<kWaveSteps>;

// Waves 0, 1 have the gate's two row groups, 2, 3 the up's, for the first half of K; waves 4..7 the second half.
Uniform<Int32> half_of_k() { return wave_id() >> 2; }
Uniform<Int32> odd_group() { return wave_id() & 1; }

struct Task {
  Uniform<Int32> slot, group;
};
Task task_of(const Uniform<Int32>& number) {
  const Uniform<Int32> slot = udiv(number, kTasksPerExpert);
  return {slot, number - slot * kTasksPerExpert};
}

void fetch(const Context& k, const ExpertMatrix& weights, const Uniform<Int32>& number, const Uniform<Int32>& slots,
           Tiles& tiles) {
  const Task task = task_of(number);
  const Uniform<Int32> expert = expert_of(k, task.slot, slots);
  const Uniform<Int32> is_up = (wave_id() >> 1) & 1;
  const Uniform<Int32> row_group = is_up * (kRowGroups / 2) + task.group * 2 + odd_group();
  const Uniform<Int32> tile = ((expert * kRowGroups + row_group) * kSteps + half_of_k() * kWaveSteps) * kTileBytes;
  const Uniform<Int32> scale =
      ((expert * (kRowGroups / 2) + (row_group >> 1)) * (kSteps / 2) + half_of_k() * (kWaveSteps / 2)) * kScaleBytes;
  fetch_tiles(tiles, weights, tile, scale);
}

Vec<Float32, 4> multiply(const Context& k, const Tiles& tiles) {
  const Int32 token = min(lane_id() % kTileColumns, k.tokens() - 1);
  const Int32 block = lane_id() / kTileColumns;
  const auto words = k.lds.latent_words + (token * kLatentWords + block * 4 + half_of_k() * (kWaveSteps * 16));
  const auto codes = k.lds.latent_scales + (token * kLatentBlocks + block + half_of_k() * (kWaveSteps * 4));
  const Uniform<Int32> shift = odd_group() * 8;
  Vec<Float32, 4> sum = 0.0F;
  for (int step = 0; step < kWaveSteps; ++step) {
    sum = multiply_tile(tiles, step, shift, load<4>(words + step * 16), load(codes + step * 4), sum);
  }
  return sum;
}

// Thread (token, column): two waves' halves of K, for the column of gate and of up.
Float32 activated(const Context& k, const Int32& token, const Int32& column) {
  const Int32 row = column % kTileRows;
  const auto element =
      k.lds.red + (column / kTileRows * kTileWords + row / 4 * (4 * kTileColumns) + token * 4 + row % 4);
  const auto sum = [&](int first_wave) {
    return (0.0F + load(element + first_wave * kTileWords)) + load(element + (first_wave + 4) * kTileWords);
  };
  return routed_activation_of(sum(0), sum(2));
}

Int32 pack_eight(const Vec<Float32, 8>& v, const Float32& scale) {
  Int32 packed = 0;
  packed = mx_pack4<0>(v[0], v[1], scale, packed);
  packed = mx_pack4<1>(v[2], v[3], scale, packed);
  packed = mx_pack4<2>(v[4], v[5], scale, packed);
  return mx_pack4<3>(v[6], v[7], scale, packed);
}

// A half wave has the 32 values of a token, which are one MX block.
void put_block(const Context& k, const Task& task) {
  const Int32 half_wave = thread_id() / kTaskColumns;
  const Int32 token = min(half_wave, k.tokens() - 1);
  const Int32 column = thread_id() % kTaskColumns;
  const Float32 value = activated(k, token, column);
  const Int32 code = scale_code(half_wave_max(abs(value)));
  store(k.lds.values + thread_id(), value);
  compiler_fence();
  const Int32 pick = load(k.lds.kof + (task.slot * kMaxTokens + token));
  If((half_wave < k.tokens()) & (column < 4) & (pick >= 0), [&] {
    const Region& inter = k.scratch_map.inter;
    const Region& isc = k.scratch_map.isc;
    const auto eight = load<8>(k.lds.values + (half_wave * kTaskColumns + column * 8));
    const Int32 row = token * kTopExperts + pick;
    k.box(inter).put(inter.at(row, task.group * 4 + column), pack_eight(eight, scale_of(code)));
    If(column == 0, [&] { k.box(isc).put(isc.at(row, Int32(task.group)), code); });
  });
}

}  // namespace

void expert_gate_up(const Context& k, const Uniform<Int32>& slots) {
  const ExpertMatrix weights = {BufferResource(k.w13, kWeightBytes), BufferResource(k.w13s, kAllScaleBytes)};
  auto tasks = ping_pong<Tiles>(
      kWorkgroups - 1 - k.workgroup, kWorkgroups, slots * kTasksPerExpert,
      [&](const Uniform<Int32>& number, Tiles& tiles) { fetch(k, weights, number, slots, tiles); },
      [&](const Uniform<Int32>& number, const Tiles& tiles) {
        put_partial_tile(k.lds.red, multiply(k, tiles));
        barrier();  // the first one also for the routing tables' `kof`
        put_block(k, task_of(number));
        barrier();
      });
  tasks.start();
  tasks.run();
}

}  // namespace monojit::kernels::kimi_k3
