#include "kernels/kimi_k3/k2/emit/output_projection.h"

#include "kernels/kimi_k3/k2/emit/row_gemv.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kStride = kOutputProjection.count;
constexpr int kLastTask = kOutputTasksPerWorkgroup - 1;

void push_task(const Context& k, const RowWeights& weights, const Uniform<Int32>& group) {
  for_row_pairs(k, weights, [&](const RowPair& pair) {
    const Int32 word = (group * kTileRows + pair.row) >> 1;
    k.push(k.peer_map.ar, k.peer_map.ar.at(Int32(k.rank), pair.token, word), word_of(pair.values));
  });
  barrier();
}

}  // namespace

void output_projection(const Context& k, const Uniform<Int32>& index) {
  const auto weights_of = [&](const Uniform<Int32>& group) {
    return RowWeights(k.w_o, group, kCoreWidth, 0, kOutputGemv);
  };
  // The third task is not everybody's; whoever has none loads its first one's weights again, which cost nothing.
  const Uniform<Int32> last = index + kLastTask * kStride;
  const Uniform<Bool> has_last = last < kOutputTasks;
  std::vector<RowWeights> weights;
  for (int task = 0; task < kLastTask; ++task) weights.push_back(weights_of(index + task * kStride));
  weights.push_back(weights_of(select(has_last, last, index)));
  sched_barrier();
  copy_rows(k, kCoreWidth, [&](const Int32& token, const Int32& column) {
    return load<4>(pointer_cast<Int32>(at_byte(k.core, (token * kCoreWidth + column) * 2)));
  });
  barrier();
  for (int task = 0; task < kLastTask; ++task)
    push_task(k, weights[static_cast<std::size_t>(task)], index + task * kStride);
  If(has_last, [&] { push_task(k, weights.back(), last); });
}

}  // namespace monojit::kernels::kimi_k3
