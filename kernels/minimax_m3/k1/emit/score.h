#pragma once

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Specification §8, all workgroups: of every block of keys that a request may select, the largest dot product of an
/// index query with a visible key, scaled. In: QKV pairs of the index queries, index_cache, block_table, seq_lens. Out:
/// iscore pairs.
void score_tasks(Context& k);

}  // namespace monojit::kernels::minimax_m3
