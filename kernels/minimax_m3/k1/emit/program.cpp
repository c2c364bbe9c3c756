#include "kernels/minimax_m3/k1/emit/program.h"

#include "kernels/minimax_m3/k1/emit/context.h"
#include "kernels/minimax_m3/k1/emit/gemv.h"
#include "kernels/minimax_m3/k1/emit/head.h"

namespace monojit::kernels::minimax_m3 {

// Specification §6.1. GEMV workgroups wait on nothing, head workgroups on GEMV ones only: a grid that is resident as a
// whole can't deadlock. Workgroups behind the head tasks have no work for one or two tokens.
void emit_k1(Kernel& kernel, const BuildKey& key) {
  Context k(kernel, k1_key(key));
  const Uniform<Int32> workgroup = workgroup_id();

  k.timeline.stamp(Stamp::kStart);
  If(workgroup < kGemvTasks, [&] {
    gemv_task(k, workgroup);
  }).ElseIf(workgroup < kFirstHeadWorkgroup + kHeadTasks, [&] {
    If(wave_id() == 0, [&] { head_task(k, workgroup - kFirstHeadWorkgroup); });
  });
  k.timeline.stamp(Stamp::kBodyDone);
  k.timeline.stamp(Stamp::kScoresDone);
  k.timeline.write(k.tl + workgroup * kTimelinePoints);
}

}  // namespace monojit::kernels::minimax_m3
