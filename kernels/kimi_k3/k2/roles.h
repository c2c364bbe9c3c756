#pragma once

#include "kernels/kimi_k3/k2/layout.h"

/// Who does what: workgroups of each stage and their tasks (specification §7).
namespace monojit::kernels::kimi_k3 {

inline constexpr int kWorkgroups = 256;

/// Workgroups first .. first + count - 1.
struct WorkgroupRange {
  int first = 0;
  int count = 0;

  constexpr int end() const { return first + count; }
  constexpr bool contains(int workgroup) const { return workgroup >= first && workgroup < end(); }
};

/// First: AllReduce, AttnRes slice, mix; gate of token b on workgroup b, later its routing; its shared activation on
/// workgroup 8 + b.
inline constexpr WorkgroupRange kResidual{0, kSlices};
inline constexpr WorkgroupRange kOutputProjection{56, 200};
inline constexpr WorkgroupRange kSharedActivation{8, kMaxTokens};

/// Then, on workgroups of the output projection:
inline constexpr WorkgroupRange kSharedGateUp{56, 96};
inline constexpr WorkgroupRange kRouter{160, kRouterTasks * kRouterParts};      // task i, part q: 160 + 4 i + q
inline constexpr WorkgroupRange kLatentDown{188, kLatentTasks * kLatentParts};  // 188 + 2 i + q

/// Last, behind the experts on all workgroups:
inline constexpr WorkgroupRange kDown{0, 224};
inline constexpr WorkgroupRange kSharedDownRest{84, 172};
inline constexpr WorkgroupRange kSharedDownOwn{224, 32};
inline constexpr WorkgroupRange kLatentNorm{56, kLatentSlices};
inline constexpr WorkgroupRange kUp{0, kUpTasks};
inline constexpr WorkgroupRange kFinalReduce{200, kSlices};

inline constexpr int kOutputTasks = kHidden / kRowsPerTask;  // 448, of the output projection and of shared down
inline constexpr int kOutputTasksPerWorkgroup = 3;           ///< gi, gi + 200, gi + 400
inline constexpr int kSharedGateUpTasks = 2 * kSharedIntermediate / kRowsPerTask;
static_assert(kSharedGateUp.count == kSharedGateUpTasks);
static_assert(kDown.count == kLatent / kRowsPerTask);
static_assert(kRouter.first >= kSharedGateUp.end() && kLatentDown.first == kRouter.end());
static_assert(kLatentDown.end() <= kWorkgroups && kFinalReduce.end() == kWorkgroups);

/// Gate and up of the experts: task (slot, g) covers intermediates 32 g .. 32 g + 31 of the slot's expert. Workgroup b
/// begins with task 255 - b, so that left-over tasks land on the workgroups that are free first.
inline constexpr int kTasksPerExpert = kIntermediate / 32;
constexpr int first_expert_task(int workgroup) { return kWorkgroups - 1 - workgroup; }

/// Shared down: the row group of task k on rank r. Tasks 0..55 are the rank's own columns.
constexpr int shared_down_group(int task, int rank) { return (task + kUpTasks * rank) % kOutputTasks; }

/// K chunks of 128 of a GEMV: wave w takes chunks w, w + 8, ..
inline constexpr int kChunk = 128;
struct GemvShape {
  int k = 0;

  constexpr int chunks() const { return k / kChunk; }
  constexpr int rounds() const { return (chunks() + kWaves - 1) / kWaves; }
  /// Whether some waves have nothing in the last round.
  constexpr bool has_masked_round() const { return rounds() * kWaves != chunks(); }
};
inline constexpr GemvShape kOutputGemv{kCoreWidth};
inline constexpr GemvShape kRouterGemv{kHidden / kRouterParts};
inline constexpr GemvShape kLatentGemv{kHidden / kLatentParts};
inline constexpr GemvShape kSharedGateUpGemv{kHidden};
inline constexpr GemvShape kSharedDownGemv{kSharedIntermediate};
inline constexpr GemvShape kUpGemv{kLatent};

/// Sums over the 56 slices go in groups of 7: slices 7 g .. 7 g + 6 in order, then groups 0..7 in order.
inline constexpr int kSliceGroup = 7;

}  // namespace monojit::kernels::kimi_k3
