#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/reference/matrix_core.h"
#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/reference/norm.h"

namespace monojit::kernels::minimax_m3 {

/// The projection of every row on every token (specification §6.7): eight waves of 24 chained MFMAs each, summed in
/// wave order, then activation scale, row scale, bf16. `weight` is [rows][6144] shuffled, `scale` [rows]; returns
/// [tokens][rows].
std::vector<float> project(std::span<const std::uint8_t> weight, std::span<const float> scale,
                           std::span<const QuantisedRow> tokens, reference::Fp8Format format,
                           reference::MatrixModel model);

/// Neighbouring rows of the projection, whole heads.
struct RowRange {
  int first = 0;
  int count = 0;
};
/// The rows that a launch projects, in rising order: the index queries of other ranks only in a long step.
std::vector<RowRange> projected_rows(const K1Key& key, bool long_step);

}  // namespace monojit::kernels::minimax_m3
