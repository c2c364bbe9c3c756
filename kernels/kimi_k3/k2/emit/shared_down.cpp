#include "kernels/kimi_k3/k2/emit/shared_down.h"

#include "kernels/kimi_k3/k2/emit/row_gemv.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kRowWords = kSharedIntermediate / 2;

// Pairs of H to LDS rows, two at a time.
void fetch_rows(const Context& k) {
  const Region& h = k.scratch_map.h;
  const int items = static_cast<int>(h.count()) / 2;
  for (int first = 0; first < items; first += kThreads) {
    const Int32 item = thread_id() + first;
    const auto one = [&] {
      const std::vector<Int32> words = k.box(h).poll(std::array{PairRun{item * 2, 2}});
      const Int32 token = udiv(item, kRowWords / 2);
      const Int32 column = (item - token * (kRowWords / 2)) * 4;
      const auto place = k.lds.rows + (token * (kSharedIntermediate + kRowPad) + column);
      store(pointer_cast<Int32>(place), vec(words[0], words[1]));
    };
    if (first + kThreads <= items) {
      one();
    } else {
      If(item < items, one);
    }
  }
  barrier();
}

Uniform<Int32> row_group(const Context& k, const Uniform<Int32>& task) {
  const Uniform<Int32> group = task + k.rank * kUpTasks;
  return select(group >= kOutputTasks, group - kOutputTasks, group);
}

RowWeights weights_of(const Context& k, const Uniform<Int32>& task) {
  return {k.w_sd, row_group(k, task), kSharedIntermediate, 0, kSharedDownGemv};
}

void push_task(const Context& k, const Uniform<Int32>& task) {
  const Region& final_ = k.peer_map.final_;
  for_row_pairs(k, weights_of(k, task), [&](const RowPair& pair) {
    const Int32 word = (row_group(k, task) * kTileRows + pair.row) >> 1;
    k.push(final_, final_.at(Int32(k.rank), pair.token, word), word_of(pair.values));
  });
  barrier();
}

void keep_task(const Context& k, const Uniform<Int32>& task) {
  for_row_pairs(k, weights_of(k, task), [&](const RowPair& pair) {
    const Int32 element = pair.token * kRankColumns + task * kTileRows + pair.row;
    k.store_shared(k.scratch_map.shp, element, round_bf16(pair.values));
  });
  k.publish(k.scratch_map.shrdy, task);
}

}  // namespace

void shared_down(const Context& k) {
  If(k.workgroup >= kSharedDownRest.first, [&] {
    fetch_rows(k);
    For(k.workgroup - (kSharedDownRest.first - kUpTasks), kOutputTasks, kSharedDownRest.count,
        [&](const Uniform<Int32>& task) { push_task(k, task); });
    For(k.workgroup - kSharedDownOwn.first + select(k.workgroup < kSharedDownOwn.first, Uniform<Int32>(kWorkgroups), 0),
        kUpTasks, kSharedDownOwn.count, [&](const Uniform<Int32>& task) { keep_task(k, task); });
  });
}

}  // namespace monojit::kernels::kimi_k3
