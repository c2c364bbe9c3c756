#pragma once

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Specification §6.2..6.4: residual add, Gemma RMSNorm and FP8 quantisation of `tokens` rows by one workgroup.
/// In: ar, res, g_in. Out: quantised rows, their scales; h_out.
///
/// A row is 768 logical threads of 8 consecutive elements, 96 a wave. A lane owns all of thread A = 96 w + lane, and of
/// thread B = 96 w + 64 + lane mod 32 elements 0..3 (lanes 0..31) or 4..7 (lanes 32..63): no lane works in vain.
class Norm {
 public:
  /// Puts the loads of all inputs in flight.
  Norm(Context& context, const Uniform<Int32>& first_token, int tokens);

  /// Waits for the inputs: ar + res of all rows. What is requested before this is in flight meanwhile.
  void add_residual();

  /// Row `index` of the new residual stream, rounded to bf16.
  void store_residual(int index) const;

  /// Takes 4 quantised elements in a dword: row `index`, byte of the row.
  using Sink = std::function<void(int index, const Int32& byte, const Vec<Int32, 2>& eight)>;
  using HalfSink = std::function<void(int index, const Int32& byte, const Int32& four)>;

  /// Normalises and quantises; the rows go to `eight` and `four`. The activation scale of each row, equal in all lanes.
  std::vector<Float32> quantise(const Sink& eight, const HalfSink& four);

 private:
  using Eight = Vec<Float32, 8>;
  using Four = Vec<Float32, 4>;
  struct Inputs {
    Vec<BFloat16, 8> a;
    Vec<BFloat16, 4> b;
  };
  struct Row {
    Eight a;
    Four b;
  };

  Float32 squares_of_b(const Row& row) const;
  void put_square_sums() const;
  Float32 reciprocal_rms() const;
  Row normalised(int index, const Float32& rstd) const;
  void put_maxima(const std::vector<Row>& rows) const;
  Float32 activation_scale() const;

  // Work that is the same for every row is done once: the lower half wave does it for the first row, the upper one for
  // the last.
  Int32 half_row() const;
  Float32 of_row(const Float32& half_wave_value, int index) const;

  Context& k_;
  int tokens_;
  Int32 a_, b_;           // first elements of the lane's parts
  Uniform<Int32> first_;  // element of the first row
  Inputs gamma_;
  std::vector<std::pair<Inputs, Inputs>> inputs_;  // of ar and res
  std::vector<Row> rows_;                          // ar + res, unrounded
};

}  // namespace monojit::kernels::minimax_m3
