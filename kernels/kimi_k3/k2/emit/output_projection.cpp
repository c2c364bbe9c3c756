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
}

}  // namespace

void output_projection(const Context& k, const Uniform<Int32>& index) {
  // The third task is not everybody's. Its weights go first: waits for the others then need not reckon with them.
  const Uniform<Int32> last = index + kLastTask * kStride;
  const Uniform<Bool> has_last = last < kOutputTasks;
  RowWeights last_weights(kOutputGemv);
  If(has_last, [&] { last_weights.fetch(k.w_o, last, kCoreWidth, 0); });
  std::vector<RowWeights> weights;
  for (int task = 0; task < kLastTask; ++task)
    weights.emplace_back(k.w_o, index + task * kStride, kCoreWidth, 0, kOutputGemv);
  sched_barrier();
  copy_rows(k, kCoreWidth, [&](const Int32& token, const Int32& column) {
    return load<4>(pointer_cast<Int32>(at_byte(k.core, (token * kCoreWidth + column) * 2)));
  });
  barrier();
  for (int task = 0; task < kLastTask; ++task) {
    if (task > 0) barrier();  // the sums of the task before have been read
    push_task(k, weights[static_cast<std::size_t>(task)], index + task * kStride);
  }
  If(has_last, [&] {
    barrier();
    push_task(k, last_weights, last);
  });
}

}  // namespace monojit::kernels::kimi_k3
