#include "kernels/kimi_k3/k2/emit/residual.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kLaneColumns = 4;
constexpr int kHalfWave = kSliceColumns / kLaneColumns;
constexpr int kGroups = kSlices / kSliceGroup;
constexpr int kGroupSums = 128;  // word of `red`
constexpr float kLog2E = 0x1.715476p+0F;
constexpr float kNoSource = -3e38F;
constexpr float kHiddenReciprocal = 1.0F / kHidden;
using Four = Vec<Float32, kLaneColumns>;

// Values of a group's slices of one token, added in the order of the slices.
Float32 sum_of_group(const Mailbox& box, const Int32& first, std::int64_t slice_pairs) {
  std::vector<PairRun> runs;
  for (int slice = 0; slice < kSliceGroup; ++slice) runs.push_back({first, 1, slice * slice_pairs});
  const std::vector<Int32> values = box.poll(runs);
  Float32 sum = bitcast<Float32>(values[0]);
  for (int slice = 1; slice < kSliceGroup; ++slice)
    sum = sum + bitcast<Float32>(values[static_cast<std::size_t>(slice)]);
  return sum;
}

Float32 sum_of_groups(const LdsArray<Float32>& red, const Int32& first, int pitch) {
  Float32 sum = load(red + first);
  for (int group = 1; group < kGroups; ++group) sum = sum + load(red + (first + group * pitch));
  return sum;
}

Four mixed_slice(const Context& k, const Int32& token, const Int32& column) {
  const Int32 weights = token * (k.sources() + 1);
  Four sum = 0.0F;
  for (int source = 0; source < k.sources(); ++source) {
    const Float32 weight = load(k.lds.red + (weights + source));
    const Four values = load<kLaneColumns>(k.lds.vals + ((token * k.sources() + source) * kSliceColumns + column));
    sum = sum + Four(weight) * values;
  }
  return sum / Four(load(k.lds.red + (weights + k.sources())));
}

Float32 square_sum(const Four& v) {
  Float32 sum = v[0] * v[0];
  for (int i = 1; i < kLaneColumns; ++i) sum = sum + v[i] * v[i];
  return half_wave_sum(sum);
}

// Lane `source` of wave 0.
void gate(const Context& k, const Int32& token) {
  const int sources = k.sources();
  const Int32 known = min(lane_id(), sources - 1);
  const Float32 squares = sum_of_groups(k.lds.red, known * 2, 2 * sources);
  const Float32 score = sum_of_groups(k.lds.red, known * 2 + 1, 2 * sources);
  const Float32 rstd = rsq(squares * kHiddenReciprocal + k.key.eps);
  const Bool is_source = lane_id() < sources;
  const Float32 logit = select(is_source, (score * rstd) * kLog2E, kNoSource);
  const Float32 weight = select(is_source, exp2(logit - wave_max(logit)), 0.0F);
  const Float32 denominator = wave_sum(weight);
  const Region& wgt = k.scratch_map.wgt;
  If(is_source, [&] { k.box(wgt).put(wgt.at(token, lane_id()), bitcast<Int32>(weight)); });
  If(lane_id() == 0, [&] { k.box(wgt).put(wgt.at(token, Int32(sources)), bitcast<Int32>(denominator)); });
}

}  // namespace

void residual_gate(const Context& k, const Uniform<Int32>& token) {
  const Region& part = k.scratch_map.part;
  const int values = 2 * k.sources();
  If(thread_id() < kGroups * values, [&] {
    const Int32 group = udiv(thread_id(), values);
    const Int32 value = thread_id() - group * values;
    const Int32 first = part.at(group * kSliceGroup, Int32(token), value / 2, value % 2);
    store(k.lds.red + thread_id(), sum_of_group(k.box(part), first, part.count() / kSlices));
  });
  barrier();
  If(wave_id() == 0, [&] { gate(k, token); });
  barrier();
}

void residual_mix(const Context& k, const Uniform<Int32>& slice) {
  const Region& wgt = k.scratch_map.wgt;
  const Region& msq = k.scratch_map.msq;
  If(thread_id() < static_cast<int>(wgt.count()),
     [&] { store(k.lds.red + thread_id(), bitcast<Float32>(k.box(wgt).poll(thread_id()))); });
  barrier();  // for the weights and for what residual_slice() left in `vals`

  const Int32 half_wave = thread_id() / kHalfWave;
  const Int32 token = min(half_wave, k.tokens() - 1);
  const Int32 in_slice = lane_id() % kHalfWave * kLaneColumns;
  const Bool live = half_wave < k.tokens();
  const Four mixed = mixed_slice(k, token, in_slice);
  const Float32 squares = square_sum(mixed);
  If(live & (lane_id() % kHalfWave == 0),
     [&] { k.box(msq).put(msq.at(Int32(slice), token), bitcast<Int32>(squares)); });
  If(thread_id() < kGroups * k.tokens(), [&] {
    const Int32 group = udiv(thread_id(), k.tokens());
    const Int32 first = msq.at(group * kSliceGroup, thread_id() - group * k.tokens());
    store(k.lds.red + (thread_id() + kGroupSums), sum_of_group(k.box(msq), first, k.tokens()));
  });
  barrier();
  const Float32 total = sum_of_groups(k.lds.red, token + kGroupSums, k.tokens());
  const Float32 rstd = rsq(total * kHiddenReciprocal + k.key.out_eps);
  const Int32 column = slice * kSliceColumns + in_slice;
  const Four weight = extend<float>(load<kLaneColumns>(at_byte(k.in_nw, column * 2)));
  const auto row = round_bf16((mixed * Four(rstd)) * weight);
  If(live, [&] { k.store_shared(k.scratch_map.xrow, token * kHidden + column, row); });
  k.publish(k.scratch_map.xrdy, slice);
}

}  // namespace monojit::kernels::kimi_k3
