#include "kernels/minimax_m3/k1/emit/signal.h"

namespace monojit::kernels::minimax_m3 {

void signal_row(const Context& k, const Uniform<Int32>& token) {
  if (!k.key.signal) return;
  drain_stores(k);
  If(thread_id() == 0, [&] { k.rows_done.put(token, 1); });
}

void signal_head(const Context& k, const Uniform<Int32>& task) {
  if (!k.key.signal) return;
  drain_stores(k);
  If(thread_id() < k.key.tokens, [&] { k.heads_done.put(thread_id() * kHeadTasks + task, 1); });
}

}  // namespace monojit::kernels::minimax_m3
