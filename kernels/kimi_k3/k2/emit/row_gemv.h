#pragma once

#include <functional>
#include <vector>

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

// Specification §8.1: 16 rows of a bf16 weight times all token rows, by a workgroup. K is cut in chunks of 128; wave w
// takes chunks w, w + 8, .. on one accumulator; the waves' sums are added in wave order from 0.

/// A wave's weights of one task. Operand q of a chunk: lane 16 kb + l16 has row l16, k = 32 q + 8 kb .. + 7. A wave
/// without a chunk in the last round loads and multiplies nothing there.
class RowWeights {
 public:
  /// Nothing yet: for weights that not every workgroup fetches.
  explicit RowWeights(GemvShape shape);
  /// In flight from the constructor on.
  RowWeights(const Uniform<Ptr<BFloat16, Global>>& matrix, const Uniform<Int32>& group, int pitch,
             const Uniform<Int32>& first_k, GemvShape shape);

  /// Puts rows 16 `group` .. of the row-major matrix with rows of `pitch` elements, columns first_k .. first_k +
  /// shape.k, in flight.
  void fetch(const Uniform<Ptr<BFloat16, Global>>& matrix, const Uniform<Int32>& group, int pitch,
             const Uniform<Int32>& first_k);
  /// With the token rows in LDS, shape.k + kRowPad elements apart.
  Vec<Float32, 4> multiply(const Context& k) const;

 private:
  GemvShape shape_;
  std::vector<Var<Vec<BFloat16, 8>>> operands_;  // [round][q]
};

/// Copies token rows of `k` elements to LDS. `source`: the 8 elements at `column` of `token`. All loads are in flight
/// at once. No barrier.
using RowSource = std::function<Vec<Int32, 4>(const Int32& token, const Int32& column)>;
void copy_rows(const Context& k, int columns, const RowSource& source);

/// Multiplies, exchanges the waves' sums through `red`, and gives every thread with a token its two output rows.
struct RowPair {
  Int32 token;
  Int32 row;  ///< first of the two, of the task's 16
  Vec<Float32, 2> values;
};
void for_row_pairs(const Context& k, const RowWeights& weights, const std::function<void(const RowPair&)>& use);
/// The same, one output row a thread.
struct RowValue {
  Int32 token;
  Int32 row;
  Float32 value;
};
void for_rows(const Context& k, const RowWeights& weights, const std::function<void(const RowValue&)>& use);

}  // namespace monojit::kernels::kimi_k3
