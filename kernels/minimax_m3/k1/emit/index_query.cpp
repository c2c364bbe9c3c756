#include "kernels/minimax_m3/k1/emit/index_query.h"

#include "kernels/minimax_m3/k1/emit/half_wave_head.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kHalfWave = 32;
constexpr int kHalfWaves = kThreads / kHalfWave;

Int32 first_dim() { return lane_id() % kHalfWave * kLaneDims; }

void make_query(const Context& k, const HeadLane& lane, const Int32& head, const Int32& lds_row) {
  const HeadInputs in = load_head_inputs(k, k.g_iq, lane);
  sched_barrier();  // in flight before the wait
  const HeadDims e = poll_head(k, (head + index_q_head(0)) * kHeadDim, lane);
  const HeadDims out = norm_and_rotate(k, e, in, lane);
  If(lane.stores, [&] { store(k.index_q + (lds_row * kIndexQueryPitch + lane.dim), round_bf16(out)); });
}

}  // namespace

Int32 own_query_row(const Context& k, const Int32& token) {
  return k.key.index_heads == 1 ? token : query_row(token, k.key.index_own);
}

Int32 query_row(const Int32& token, const Int32& head) { return token * kMaxIndexHeads + head; }

void make_index_queries(Context& k, const Uniform<Int32>& first, const Uniform<Int32>& tokens, int most) {
  const auto half_waves = [&] {
    const Int32 job = thread_id() / kHalfWave;
    const Int32 token = first + min(job, tokens - 1);
    const HeadLane lane{.token = token, .dim = first_dim(), .stores = job < tokens};
    make_query(k, lane, k.key.index_own, own_query_row(k, token));
  };
  const int waves = (most + 1) / 2;
  if (waves == kWaves) {
    half_waves();
  } else {
    If(wave_id() < waves, half_waves);
  }
  barrier();
}

void make_all_index_queries(Context& k) {
  const int jobs = k.key.tokens * kMaxIndexHeads;
  for (int first = 0; first < jobs; first += kHalfWaves) {
    const Int32 job = thread_id() / kHalfWave + first;
    const Int32 known = min(job, jobs - 1);
    const HeadLane lane{.token = known / kMaxIndexHeads, .dim = first_dim(), .stores = job < jobs};
    make_query(k, lane, known % kMaxIndexHeads, known);
  }
  barrier();
}

QueryOperand load_index_query(const Context& k, const Int32& row) {
  constexpr int kItems = 8;
  const auto lane = k.index_q + (row * kIndexQueryPitch + lane_id() / kTileColumns * kItems);
  QueryOperand operand;
  for (int chunk = 0; chunk < static_cast<int>(operand.size()); ++chunk)
    operand[chunk] = load<kItems>(lane + chunk * 32);
  return operand;
}

}  // namespace monojit::kernels::minimax_m3
