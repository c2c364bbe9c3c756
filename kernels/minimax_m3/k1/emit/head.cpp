#include "kernels/minimax_m3/k1/emit/head.h"

#include "kernels/minimax_m3/k1/emit/cache_insert.h"
#include "kernels/minimax_m3/k1/emit/half_wave_head.h"
#include "kernels/minimax_m3/k1/emit/signal.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kHalfWave = 32;
constexpr int kTokensPerWave = 2;

HeadLane head_lane(const Context& k) {
  const Int32 token = thread_id() / kHalfWave;
  return {
      .token = min(token, k.key.tokens - 1), .dim = lane_id() % kHalfWave * kLaneDims, .stores = token < k.key.tokens};
}

Uniform<Ptr<BFloat16, Global>> head_gamma(const Context& k, const Uniform<Int32>& task) {
  const auto index = select(task == kIndexQTask, k.g_iq, k.g_ik);
  return select(task < kQHeads, k.g_q, select(task == kKTask, k.g_k, index));
}

// The own index q and the index k stand behind one another only on a rank with one index head.
Uniform<Int32> first_row(const Context& k, const Uniform<Int32>& task) {
  if (k.key.index_heads == 1) return task * kHeadDim;
  const Uniform<Int32> index_q = index_q_head(k.key.index_own);
  const Uniform<Int32> index_k = index_k_head(k.key.index_heads);
  return select(task == kIndexQTask, index_q, select(task == kIndexKTask, index_k, task)) * kHeadDim;
}

void store_query(const BufferResource& heads, const Int32& head, const HeadLane& lane, const HeadDims& out,
                 CachePolicy policy) {
  If(lane.stores, [&] { store(heads, (head * kHeadDim + lane.dim) * 2, round_bf16(out), {.policy = policy}); });
}

void store_head(const Context& k, const Uniform<Int32>& task, const HeadLane& lane, const Int32& slot,
                const HeadDims& out) {
  If(task < kQHeads,
     [&] { store_query(BufferResource(k.q_out), lane.token * kQHeads + task, lane, out, k.output_policy()); })
      .ElseIf(task == kKTask, [&] { insert_k(k, lane, slot, out); })
      .ElseIf(task == kIndexQTask,
              [&] { store_query(BufferResource(k.iq_out), lane.token, lane, out, CachePolicy::kDefault); })
      .Else([&] { insert_index_k(k, lane, slot, out); });
}

void work(Context& k, const Uniform<Int32>& task) {
  const HeadLane lane = head_lane(k);
  const Int32 slot = load(k.slot_mapping + lane.token * 2);
  const HeadInputs in = load_head_inputs(k, head_gamma(k, task), lane);
  sched_barrier();  // in flight before the wait
  const HeadDims e = poll_head(k, first_row(k, task), lane);
  k.timeline.stamp(Stamp::kHeadArrived);
  If(task == kVTask, [&] { insert_v(k, lane, slot, e); }).Else([&] {
    store_head(k, task, lane, slot, norm_and_rotate(k, e, in, lane));
  });
}

}  // namespace

void head_task(Context& k, const Uniform<Int32>& task) {
  const int waves = (k.key.tokens + kTokensPerWave - 1) / kTokensPerWave;
  If(wave_id() < waves, [&] { work(k, task); });
  signal_head(k, task);
}

}  // namespace monojit::kernels::minimax_m3
