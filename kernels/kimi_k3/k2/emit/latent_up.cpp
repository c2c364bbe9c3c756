#include "kernels/kimi_k3/k2/emit/latent_up.h"

#include "kernels/kimi_k3/k2/emit/row_gemv.h"

namespace monojit::kernels::kimi_k3 {

void latent_up(const Context& k, const Uniform<Int32>& task) {
  const RowWeights weights(k.w_up, task, kLatent, 0, kUpGemv);
  sched_barrier();  // weights first
  If(thread_id() < kLatentSlices, [&] { k.box(k.scratch_map.lnrdy).poll(thread_id()); });
  If(thread_id() == 0, [&] { k.box(k.scratch_map.shrdy).poll(Int32(task)); });
  barrier();
  copy_rows(k, kLatent, [&](const Int32& token, const Int32& column) {
    return k.load_shared<Vec<Int32, 4>>(k.scratch_map.ln, token * kLatent + column);
  });
  barrier();
  for_row_pairs(k, weights, [&](const RowPair& pair) {
    const Int32 column = task * kTileRows + pair.row;
    const auto shared = k.load_shared<Vec<BFloat16, 2>>(k.scratch_map.shp, pair.token * kRankColumns + column);
    const Region& final_ = k.peer_map.final_;
    const Int32 word = (k.rank * kRankColumns + column) >> 1;
    k.push(final_, final_.at(Int32(k.rank), pair.token, word), word_of(extend<float>(shared) + pair.values));
  });
}

}  // namespace monojit::kernels::kimi_k3
