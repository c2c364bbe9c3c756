#include "kernels/kimi_k3/k2/emit/expert_down.h"

#include "kernels/common/emit/ping_pong.h"
#include "kernels/kimi_k3/k2/emit/expert_tile.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kSteps = kIntermediate / kChunk;
constexpr int kRowGroups = kLatent / kRowsPerTask;
constexpr int kScaleBytes = 2 * kWaveLanes * 4;  // of two row groups, four steps
constexpr std::int64_t kWeightBytes = std::int64_t{kExperts} * kRowGroups * kSteps * kTileBytes;
constexpr std::int64_t kAllScaleBytes = std::int64_t{kExperts} * (kRowGroups / 2) * kScaleBytes;
constexpr int kWords = kIntermediate / kFp4WordValues;
constexpr int kMostSlots = 5;  // of a wave, in flight together
constexpr int kUnitCode = 127;
using Batch = std::array<ExpertTiles<kSteps>, kMostSlots>;

// Slots of a wave in a batch. What surely fits three batches is shared out evenly, so that steps of few tokens, whose
// union is mostly about as large as it can be, don't multiply slots that nobody has.
int batch_slots(const Context& k) {
  constexpr int kBatches = 3;
  const int most = k.tokens() * kTopExperts / kWaves;
  if (most > kBatches * kMostSlots) return kMostSlots;
  const int batches = (most + kMostSlots - 1) / kMostSlots;
  return (most + batches - 1) / batches;
}

// Slot j of a wave's batch.
Uniform<Int32> slot_of(const Context& k, const Uniform<Int32>& batch, int j) {
  return wave_id() + batch * (batch_slots(k) * kWaves) + j * kWaves;
}

void fetch(const Context& k, const ExpertMatrix& weights, const Uniform<Int32>& rows, const Uniform<Int32>& slots,
           const Uniform<Int32>& batch, Batch& tiles) {
  for (int j = 0; j < batch_slots(k); ++j) {
    const Uniform<Int32> expert = expert_of(k, slot_of(k, batch, j), slots);
    const Uniform<Int32> tile = (expert * kRowGroups + rows) * (kSteps * kTileBytes);
    const Uniform<Int32> scale = (expert * (kRowGroups / 2) + (rows >> 1)) * kScaleBytes;
    fetch_tiles(tiles[static_cast<std::size_t>(j)], weights, tile, scale);
  }
}

// Two pairs a load: words and scale codes of all picks, to LDS.
void fetch_intermediates(const Context& k) {
  const auto copy = [&](const Region& region, const LdsArray<Int32>& place) {
    const int items = static_cast<int>(region.count()) / 2;
    for (int first = 0; first < items; first += kThreads) {
      const Int32 item = thread_id() + first;
      const auto one = [&] {
        const std::vector<Int32> words = k.box(region).poll(std::array{PairRun{item * 2, 2}});
        store(place + item * 2, vec(words[0], words[1]));
      };
      if (first + kThreads <= items) {
        one();
      } else {
        If(item < items, one);
      }
    }
  };
  copy(k.scratch_map.inter, k.lds.inter_words);
  copy(k.scratch_map.isc, k.lds.inter_scales);
  barrier();  // where there was no task of gate and up, also for `kof`
}

// One slot: its expert's rows for the tokens that picked it; the others multiply with zeros.
void use_slot(const Context& k, const Uniform<Int32>& rows, const Uniform<Int32>& slots, const Uniform<Int32>& slot,
              const ExpertTiles<kSteps>& tiles) {
  const Int32 token = lane_id() % kTileColumns;
  const Int32 block = lane_id() / kTileColumns;
  const Int32 known_token = min(token, k.tokens() - 1);
  const Int32 pick = load(k.lds.kof + (min(slot, slots - 1) * kMaxTokens + known_token));
  const Bool picked = (token < k.tokens()) & (pick >= 0);
  const Int32 row = known_token * kTopExperts + max(pick, 0);
  const Uniform<Int32> shift = (rows & 1) * 8;
  Vec<Float32, 4> sum = 0.0F;
  for (int step = 0; step < kSteps; ++step) {
    const Vec<Int32, 4> words = load<4>(k.lds.inter_words + (row * kWords + block * 4 + step * 16));
    const Int32 code = load(k.lds.inter_scales + (row * kIntermediateBlocks + block + step * 4));
    sum = multiply_tile(tiles, step, shift, select(picked, words, Vec<Int32, 4>(0)), select(picked, code, kUnitCode),
                        sum);
  }
  If(picked & (slot < slots), [&] {
    const Float32 weight = bitcast<Float32>(load(k.lds.route + (known_token * (2 * kTopExperts) + kTopExperts + pick)));
    const auto rounded = extend<float>(round_bf16(sum * Vec<Float32, 4>(weight)));
    store(k.lds.contributions + (row * kRowsPerTask + block * 4), rounded);
  });
}

// Shared down, which comes next, leaves the contributions alone, so that no barrier need be between.
constexpr bool ends_before_contributions(int tokens) {
  const kimi_k3::LdsLayout lds = lds_layout(tokens, 1);
  const int rows_bytes = tokens * (kSharedIntermediate + kRowPad) * 2;
  return lds.rows.offset + rows_bytes <= lds.contributions.offset;
}
static_assert(ends_before_contributions(1) && ends_before_contributions(kMaxTokens));

// The picks' results, added in their order with a rounding to bf16 after each.
void push_rows(const Context& k, const Uniform<Int32>& rows) {
  constexpr int kPairs = kRowsPerTask / 2;
  If(thread_id() < kPairs * k.tokens(), [&] {
    const Int32 token = thread_id() / kPairs;
    const Int32 pair = thread_id() % kPairs;
    Vec<Float32, 2> sum = 0.0F;
    for (int pick = 0; pick < kTopExperts; ++pick) {
      const Int32 row = token * kTopExperts + pick;
      sum = extend<float>(round_bf16(sum + load<2>(k.lds.contributions + (row * kRowsPerTask + pair * 2))));
    }
    const Region& latr = k.peer_map.latr;
    k.push(latr, latr.at(Int32(k.rank), token, rows * kPairs + pair), word_of(sum));
  });
}

}  // namespace

void expert_down(const Context& k, const Uniform<Int32>& rows, const Uniform<Int32>& slots) {
  const ExpertMatrix weights = {BufferResource(k.w2, kWeightBytes), BufferResource(k.w2s, kAllScaleBytes)};
  const int batch_of_all = batch_slots(k) * kWaves;
  const Uniform<Int32> batches = udiv(slots + (batch_of_all - 1), Uniform<Int32>(batch_of_all));
  auto all = ping_pong<Batch>(
      Uniform<Int32>(0), 1, batches,
      [&](const Uniform<Int32>& batch, Batch& tiles) { fetch(k, weights, rows, slots, batch, tiles); },
      [&](const Uniform<Int32>& batch, const Batch& tiles) {
        for (int j = 0; j < batch_slots(k); ++j) {
          use_slot(k, rows, slots, slot_of(k, batch, j), tiles[static_cast<std::size_t>(j)]);
        }
      });
  all.start();
  fetch_intermediates(k);
  all.run();
  barrier();
  push_rows(k, rows);
}

}  // namespace monojit::kernels::kimi_k3
