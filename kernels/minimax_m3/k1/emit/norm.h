#pragma once

#include <array>
#include <vector>

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Specification §6.2..6.4: residual add, Gemma RMSNorm and FP8 quantisation of all token rows by one workgroup.
/// In: ar, res, g_in. Out: rows x8 in LDS, their scales; h_out from one of the workgroups.
///
/// A row is 768 logical threads of 8 consecutive elements. Lane L of wave w owns A = 96 w + L and, for L < 32,
/// B = 96 w + 64 + L; lanes 32..63 repeat B of lane 31, which counts in no sum.
class Norm {
 public:
  /// Puts the loads of all inputs in flight.
  explicit Norm(Context& context);

  /// Row `token` of the new residual stream, rounded to bf16.
  void store_residual(int token) const;
  /// Normalises and quantises; ends with a barrier. The activation scale of each token, equal in all lanes.
  std::vector<Float32> quantise();

 private:
  using Elements = Vec<Float32, 8>;
  static constexpr int kSlices = 2;  // A and B
  struct Row {
    std::array<Elements, kSlices> sum;  // ar + res, unrounded
  };

  Float32 slice_squares(const Row& row, int slice) const;
  void put_square_sums(int token);
  Float32 reciprocal_rms(int token) const;
  Row normalised(int token) const;
  void put_maximum(const Row& row, int token) const;
  Float32 activation_scale(int token) const;
  void put_activations(const Row& row, int token, const Float32& scale) const;

  Context& k_;
  std::array<Int32, kSlices> thread_;  // logical threads A, B
  std::array<Vec<BFloat16, 8>, kSlices> gamma_;
  std::vector<Row> rows_;
};

}  // namespace monojit::kernels::minimax_m3
