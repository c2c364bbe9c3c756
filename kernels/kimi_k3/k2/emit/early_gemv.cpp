#include "kernels/kimi_k3/k2/emit/early_gemv.h"

#include "kernels/kimi_k3/k2/emit/row_gemv.h"

namespace monojit::kernels::kimi_k3 {

namespace {

void fetch_rows(const Context& k, const Uniform<Int32>& first_column, int columns) {
  sched_barrier();  // weights first
  If(thread_id() < kSlices, [&] { k.box(k.scratch_map.xrdy).poll(thread_id()); });
  barrier();
  copy_rows(k, columns, [&](const Int32& token, const Int32& column) {
    return k.load_shared<Vec<Int32, 4>>(k.scratch_map.xrow, token * kHidden + first_column + column);
  });
  barrier();
}

// The parts of K of one task, a workgroup each: `region` has [task][part][token][row], and part 0 adds up the others.
void sum_parts(const Context& k, const Region& region, const RowWeights& weights, const Uniform<Int32>& task,
               const Uniform<Int32>& part, int parts, const std::function<void(const RowValue&)>& use) {
  const std::int64_t part_pairs = std::int64_t{k.tokens()} * kTileRows;
  for_rows(k, weights, [&](const RowValue& mine) {
    If(part != 0, [&] {
      k.box(region).put(region.at(Int32(task), Int32(part), mine.token, mine.row), bitcast<Int32>(mine.value));
    }).Else([&] {
      std::vector<PairRun> runs;
      const Int32 first = region.at(Int32(task), Int32(0), mine.token, mine.row);
      for (int other = 1; other < parts; ++other) runs.push_back({first, 1, other * part_pairs});
      Float32 sum = mine.value;
      for (const Int32& value : k.box(region).poll(runs)) sum = sum + bitcast<Float32>(value);
      use({.token = mine.token, .row = mine.row, .value = sum});
    });
  });
}

}  // namespace

void shared_gate_up(const Context& k, const Uniform<Int32>& task) {
  const RowWeights weights(k.w_sgu, task, kHidden, 0, kSharedGateUpGemv);
  fetch_rows(k, 0, kHidden);
  const Region& sgu = k.scratch_map.sgu;
  for_row_pairs(k, weights, [&](const RowPair& pair) {
    k.box(sgu).put(sgu.at(pair.token, (task * kTileRows + pair.row) >> 1), word_of(pair.values));
  });
}

void router(const Context& k, const Uniform<Int32>& index) {
  const Uniform<Int32> task = index >> 2;
  const Uniform<Int32> part = index & (kRouterParts - 1);
  const Uniform<Int32> first_column = part * kRouterGemv.k;
  const RowWeights weights(k.w_gate, k.rank * kRouterTasks + task, kHidden, first_column, kRouterGemv);
  fetch_rows(k, first_column, kRouterGemv.k);
  sum_parts(k, k.scratch_map.rpart, weights, task, part, kRouterParts, [&](const RowValue& logit) {
    const Region& rlog = k.peer_map.rlog;
    k.push(rlog, rlog.at(Int32(k.rank), logit.token, task * kTileRows + logit.row), bitcast<Int32>(logit.value));
  });
}

void latent_down(const Context& k, const Uniform<Int32>& index) {
  const Uniform<Int32> task = index >> 1;
  const Uniform<Int32> part = index & (kLatentParts - 1);
  const Uniform<Int32> first_column = part * kLatentGemv.k;
  const RowWeights weights(k.w_ld, k.rank * kLatentTasks + task, kHidden, first_column, kLatentGemv);
  fetch_rows(k, first_column, kLatentGemv.k);
  sum_parts(k, k.scratch_map.lpart, weights, task, part, kLatentParts, [&](const RowValue& column) {
    const Float32 neighbour = lane_xor(column.value, 1);
    If(column.row % 2 == 0, [&] {
      const Region& lat = k.peer_map.lat;
      const Int32 word = (k.rank * kRankLatent + task * kTileRows + column.row) >> 1;
      k.push(lat, lat.at(column.token, word), word_of(vec(column.value, neighbour)));
    });
  });
}

}  // namespace monojit::kernels::kimi_k3
