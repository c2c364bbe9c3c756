#pragma once

#include <vector>

#include "kernels/common/reference/comparing.h"
#include "kernels/common/reference/matrix_core.h"
#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/scorer.h"

namespace monojit::kernels::minimax_m3 {

/// Index query `index_head` of `row`, normed, rotated and rounded, from the projection in the scratch.
IndexQuery index_query(const K1Key& key, const std::vector<Tensor>& tensors, int row, int index_head);

/// Every score of the step, from the projection and the index cache in `tensors`, into their iscore.
void score_step(const K1Key& key, const Chip& chip, std::vector<Tensor>& tensors, reference::MatrixModel model);

/// Distances of a device's scores from an order-free reference, which takes the device's own index queries (of other
/// heads: its projection) and index cache.
void check_scores(const K1Key& key, const Chip& chip, const std::vector<Tensor>& after,
                  reference::BoundTracker& tracker);

}  // namespace monojit::kernels::minimax_m3
