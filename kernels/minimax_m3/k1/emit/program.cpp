#include "kernels/minimax_m3/k1/emit/program.h"

#include "kernels/minimax_m3/k1/emit/context.h"
#include "kernels/minimax_m3/k1/emit/gemv.h"
#include "kernels/minimax_m3/k1/emit/head.h"
#include "kernels/minimax_m3/k1/emit/norm_task.h"
#include "kernels/minimax_m3/k1/emit/score.h"
#include "kernels/minimax_m3/k1/emit/step_rows.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kOwnQueryGroups = index_q_head(0) * kHeadRowGroups;  // GEMV tasks before the own index query's

// Row group of a GEMV workgroup: the rank's own rows in their order, without the other index queries.
Uniform<Int32> own_row_group(const Context& k, const Uniform<Int32>& workgroup) {
  if (k.key.index_heads == 1) return workgroup;
  const int skipped_before_query = k.key.index_own * kHeadRowGroups;
  const int skipped_before_key = (k.key.index_heads - 1) * kHeadRowGroups;
  const Uniform<Int32> query = select(workgroup >= kOwnQueryGroups, Uniform<Int32>(skipped_before_query), 0);
  return workgroup + select(workgroup >= kOwnQueryGroups + kHeadRowGroups, Uniform<Int32>(skipped_before_key), query);
}

// Of a workgroup for another index query's rows.
Uniform<Int32> other_row_group(const Context& k, const Uniform<Int32>& other) {
  const int own_first = k.key.index_own * kHeadRowGroups;
  return other + select(other >= own_first, Uniform<Int32>(kOwnQueryGroups + kHeadRowGroups), kOwnQueryGroups);
}

// The row group whose GEMV this workgroup has, or -1. Only long requests need the other index queries.
Uniform<Int32> gemv_row_group(const Context& k, const Uniform<Int32>& workgroup) {
  Var<Uniform<Int32>> group(select(workgroup < kGemvTasks, own_row_group(k, workgroup), -1));
  if (k.key.index_heads > 1 && k.key.scorer) {
    const Uniform<Int32> other = workgroup - kFirstOtherWorkgroup;
    If(ult(other, kOtherGemvTasks), [&] { If(StepRows(k).any_long(), [&] { group = other_row_group(k, other); }); });
  }
  return group;
}

}  // namespace

// Specification §6.1. Waits point from later stages to earlier ones or to lower stages of other workgroups: a grid that
// is resident as a whole can't deadlock.
void emit_k1(Kernel& kernel, const BuildKey& key) {
  Context k(kernel, k1_key(key));
  const Uniform<Int32> workgroup = workgroup_id();

  k.timeline.stamp(Stamp::kStart);
  if (!k.self_norm()) {
    const Uniform<Int32> token = workgroup - kFirstNormWorkgroup;
    If(ult(token, k.key.tokens), [&] { norm_task(k, token); });
  }
  const Uniform<Int32> row_group = gemv_row_group(k, workgroup);
  If(row_group >= 0, [&] { gemv_task(k, row_group); });
  const Uniform<Int32> head = workgroup - kFirstHeadWorkgroup;
  If(ult(head, kHeadTasks), [&] { head_task(k, head); });
  k.timeline.stamp(Stamp::kBodyDone);
  if (k.key.scorer) score_tasks(k);
  k.timeline.stamp(Stamp::kScoresDone);
  k.timeline.write();
}

}  // namespace monojit::kernels::minimax_m3
