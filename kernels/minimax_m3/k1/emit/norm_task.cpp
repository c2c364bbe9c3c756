#include "kernels/minimax_m3/k1/emit/norm_task.h"

#include "kernels/minimax_m3/k1/emit/norm.h"
#include "kernels/minimax_m3/k1/emit/signal.h"

namespace monojit::kernels::minimax_m3 {

void norm_task(Context& k, const Uniform<Int32>& token) {
  Norm norm(k, token, 1);
  norm.add_residual();
  norm.store_residual(0);
  signal_row(k, token);
  const Int32 row = token * kHidden + static_cast<std::int32_t>(kScratchX8);
  const auto put = [&](int, const Int32& byte, const auto& codes) {
    store(k.scratch, row + byte, codes, {.policy = CachePolicy::kDevice});
  };
  const Float32 scale = norm.quantise(put, put).front();
  k.timeline.stamp(Stamp::kActivationsQuantised);
  drain_stores(k);
  If(thread_id() == 0, [&] { k.x8_scale.put(token, bitcast<Int32>(scale)); });
}

}  // namespace monojit::kernels::minimax_m3
