#pragma once

#include <array>
#include <optional>

#include "kernels/minimax_m3/k1/emit/context.h"
#include "kernels/minimax_m3/k1/emit/norm.h"

namespace monojit::kernels::minimax_m3 {

/// A wave's share of the quantised activations as MFMA operands: of chunk c (64 k), lane 16 g + column has bytes
/// 16 g .. 16 g + 15 of the column's token. Columns beyond the last token repeat it and are dropped.
using Operands = std::array<Vec<Int32, 4>, kChunksPerWave>;

/// Where a GEMV workgroup has its activations from (specification §6.5): up to two tokens it normalises all of them
/// itself, through LDS; above, norm workgroups leave them in X8.
class Activations {
 public:
  /// Puts the norm's inputs in flight.
  explicit Activations(Context& context);
  /// Waits for all rows. Workgroup `row_group` stores the residual of its token, if there is one of that number.
  void fetch(const Uniform<Int32>& row_group);
  const Operands& operands() const { return operands_; }
  /// The scale of the token that is the column of each lane's result.
  Float32 scale(const Int32& token) const;

 private:
  void normalise(const Uniform<Int32>& row_group);
  void read_lds();
  void read_x8();

  Context& k_;
  std::optional<Norm> norm_;
  Operands operands_;
  std::vector<Float32> scales_;  // self_norm(): of each token
  Float32 lane_scale_;           // else: lane i has that of token i mod 16
};

}  // namespace monojit::kernels::minimax_m3
