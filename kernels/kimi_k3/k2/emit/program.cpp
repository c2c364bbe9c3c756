#include "kernels/kimi_k3/k2/emit/program.h"

#include "kernels/kimi_k3/k2/emit/context.h"
#include "kernels/kimi_k3/k2/emit/early_gemv.h"
#include "kernels/kimi_k3/k2/emit/expert_down.h"
#include "kernels/kimi_k3/k2/emit/expert_gate_up.h"
#include "kernels/kimi_k3/k2/emit/final_reduce.h"
#include "kernels/kimi_k3/k2/emit/latent_norm.h"
#include "kernels/kimi_k3/k2/emit/latent_quantise.h"
#include "kernels/kimi_k3/k2/emit/latent_up.h"
#include "kernels/kimi_k3/k2/emit/output_projection.h"
#include "kernels/kimi_k3/k2/emit/residual.h"
#include "kernels/kimi_k3/k2/emit/route.h"
#include "kernels/kimi_k3/k2/emit/routing_tables.h"
#include "kernels/kimi_k3/k2/emit/shared_activation.h"
#include "kernels/kimi_k3/k2/emit/shared_down.h"

namespace monojit::kernels::kimi_k3 {

namespace {

// Runs `stage` on the workgroups of a range, with the workgroup's number in it.
template <class Stage>
void on(const Context& k, const WorkgroupRange& range, Stage&& stage) {
  const Uniform<Int32> index = k.workgroup - range.first;
  If(ult(index, range.count), [&] { stage(k, index); });
}
template <class Stage>
void on(const Context& k, const WorkgroupRange& range, Stamp end, Stage&& stage) {
  on(k, range, [&](const Context&, const Uniform<Int32>& index) {
    stage(k, index);
    k.timeline.stamp(end);
  });
}

// Test hook: one workgroup of one rank holds up one launch.
void fault(const Context& k) {
  if (k.key.fault_rank < 0) return;
  const Uniform<Bool> here = (k.workgroup == 0) & (k.rank == k.key.fault_rank) & (k.epoch == k.key.fault_epoch) &
                             (k.layer == k.key.fault_layer);
  IfRarely(here, [&] {
    const Uniform<Int64> start = s_memrealtime();
    DoWhile([&] {
      s_sleep(127);
      return s_memrealtime() - start < std::int64_t{k.key.fault_ticks};
    });
  });
}

void attention_residual(const Context& k, const Uniform<Int32>& slice) {
  reduce_attention(k, slice);
  k.timeline.stamp(Stamp::kAttentionSummed);
  residual_slice(k, slice);
  k.timeline.stamp(Stamp::kSlice);
  on(k, {0, k.tokens()}, Stamp::kGate, residual_gate);
  residual_mix(k, slice);
  k.timeline.stamp(Stamp::kMix);
  on(k, {0, k.tokens()}, Stamp::kRouted, route);
  on(k, {kSharedActivation.first, k.tokens()}, Stamp::kSharedActivated, shared_activation);
}

void projections(const Context& k, const Uniform<Int32>& index) {
  output_projection(k, index);
  k.timeline.stamp(Stamp::kProjected);
  on(k, kSharedGateUp, Stamp::kSharedProjected, shared_gate_up);
  on(k, kRouter, Stamp::kScored, router);
  on(k, kLatentDown, Stamp::kLatentProjected, latent_down);
}

}  // namespace

// Specification §7. No workgroup waits for a later stage of its own, so a group whose grids are all resident can't
// deadlock.
void emit_k2(Kernel& kernel, const BuildKey& key) {
  const Context k(kernel, k2_key(key));
  k.timeline.stamp(Stamp::kStart);
  fault(k);
  on(k, kResidual, attention_residual);
  on(k, kOutputProjection, projections);

  quantise_latent(k);
  k.timeline.stamp(Stamp::kLatentQuantised);
  const Uniform<Int32> slots = build_routing_tables(k);
  k.timeline.stamp(Stamp::kTables);
  expert_gate_up(k, slots);
  k.timeline.stamp(Stamp::kExpertGateUp);
  on(k, kDown, Stamp::kExpertDown, [&](const Context&, const Uniform<Int32>& rows) { expert_down(k, rows, slots); });
  shared_down(k);
  k.timeline.stamp(Stamp::kSharedDown);
  on(k, kLatentNorm, Stamp::kLatentNormed, latent_norm);
  on(k, kUp, Stamp::kLatentUp, latent_up);
  if (k.key.reduce) on(k, kFinalReduce, Stamp::kReduced, final_reduce);
  k.timeline.write();
}

}  // namespace monojit::kernels::kimi_k3
