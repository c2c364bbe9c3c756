#include "kernels/kimi_k3/k2/emit/rank_sum.h"
#include "kernels/kimi_k3/k2/emit/residual.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kLaneColumns = 4;
constexpr int kHalfWave = kSliceColumns / kLaneColumns;  // lanes of a source's slice
using Four = Vec<Float32, kLaneColumns>;

Four load4(const Uniform<Ptr<BFloat16, Global>>& row, const Int32& element) {
  return extend<float>(load<kLaneColumns>(at_byte(row, element * 2)));
}

// One source of one token, by a half wave.
struct Item {
  Int32 token, source, column;
  Bool live;
};

Item item_of(const Context& k, int first, const Uniform<Int32>& slice) {
  const int rows = k.tokens() * k.sources();
  const Int32 half_wave = thread_id() / kHalfWave + first / kHalfWave;
  const Int32 row = min(half_wave, rows - 1);
  const Int32 token = udiv(row, k.sources());
  return {.token = token,
          .source = row - token * k.sources(),
          .column = slice * kSliceColumns + lane_id() % kHalfWave * kLaneColumns,
          .live = half_wave < rows};
}

// What the item reads: its block, or the prefix that its own half wave alone is about to replace.
Four load_source(const Context& k, const Item& item, const Bool& is_prefix) {
  const Int32 block = min(item.source, k.key.nblocks - 1);
  const auto of_block = at_byte(k.blocks, (item.token * k.blk_sm + block * k.blk_sr + item.column) * 2);
  if (k.key.reset) return extend<float>(load<kLaneColumns>(of_block));
  const auto of_prefix = at_byte(k.prefix, (item.token * kHidden + item.column) * 2);
  return extend<float>(load<kLaneColumns>(select(is_prefix, of_prefix, of_block)));
}

// `old` is the prefix before this layer.
Four new_prefix(const Context& k, const Item& item, const Four& old) {
  const Int32 in_slice = item.token * kSliceColumns + lane_id() % kHalfWave * kLaneColumns;
  const Four delta = load<kLaneColumns>(k.lds.delta + in_slice);
  return k.key.reset ? delta : extend<float>(round_bf16(old + delta));
}

Float32 dot(const Four& a, const Four& b) {
  Float32 sum = a[0] * b[0];
  for (int i = 1; i < kLaneColumns; ++i) sum = sum + a[i] * b[i];
  return sum;
}

void source_slice(const Context& k, const Uniform<Int32>& slice, const Item& item) {
  const Bool is_prefix = item.live & (item.source == k.key.nblocks);
  const Four source = load_source(k, item, is_prefix);
  const Four pre = new_prefix(k, item, source);
  const Four value = select(item.live, select(is_prefix, pre, source), Four(0.0F));
  If(is_prefix, [&] { store(at_byte(k.prefix, (item.token * kHidden + item.column) * 2), round_bf16(pre)); });
  If(item.live, [&] {
    const Int32 row = (item.token * k.sources() + item.source) * kSliceColumns;
    store(k.lds.vals + (row + lane_id() % kHalfWave * kLaneColumns), value);
  });
  const Four weight = load4(k.ares_nw, item.column) * load4(k.ares_qk, item.column);
  const Float32 squares = half_wave_sum(dot(value, value));
  const Float32 score = half_wave_sum(dot(value, weight));
  If(item.live & (lane_id() % kHalfWave == 0), [&] {
    const Region& part = k.scratch_map.part;
    const Int32 first = part.at(Int32(slice), item.token, item.source, Int32(0));
    k.box(part).put(first, bitcast<Int32>(squares));
    k.box(part).put(first + 1, bitcast<Int32>(score));
  });
}

}  // namespace

void reduce_attention(const Context& k, const Uniform<Int32>& slice) {
  const SliceLane lane = slice_lane(k);
  If(lane.live, [&] {
    const Int32 word = slice * (kSliceColumns / 2) + lane.word;
    const Vec<Float32, 2> sum = sum_over_ranks(k, k.peer_map.ar, lane.token, word);
    store(k.lds.delta + (lane.token * kSliceColumns + lane.word * 2), extend<float>(round_bf16(sum)));
  });
  barrier();
}

void residual_slice(const Context& k, const Uniform<Int32>& slice) {
  const int lanes = k.tokens() * k.sources() * kHalfWave;
  for (int first = 0; first < lanes; first += kThreads) source_slice(k, slice, item_of(k, first, slice));
}

}  // namespace monojit::kernels::kimi_k3
