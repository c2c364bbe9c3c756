#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/common/reference/gemv_step.h"

namespace monojit::kernels::reference {

/// Activation rows, decoded for the matrix core.
class BFloat16Activations {
 public:
  /// `rows`: [tokens][k].
  BFloat16Activations(std::span<const BFloat16Bits> rows, std::size_t tokens);

  std::size_t tokens() const { return tokens_; }
  /// The columns of inputs 32 step .. 32 step + 31, one a token.
  std::span<const ActivationStep> step(std::size_t step) const {
    return std::span(columns_).subspan(step * tokens_, tokens_);
  }

 private:
  std::size_t tokens_;
  std::vector<ActivationStep> columns_;
};

/// 16 rows of a bf16 weight.
struct WeightRows {
  const BFloat16Bits* first = nullptr;  ///< row 0, first of the inputs that count
  std::ptrdiff_t pitch = 0;             ///< elements from a row to the next
};

/// 16 weight rows times inputs 128 * first_chunk .. of every token, as a workgroup of 8 waves does it: wave w takes
/// chunks w, w + 8, .. of 128 inputs, four MFMAs each in rising k; the waves' sums are added to 0 in their order. Waves
/// without a chunk in the last round multiply the last chunk's weights by zero: where these are not finite, that is
/// NaN. `weight` begins at the first chunk's inputs. Result [token][row].
std::vector<MfmaColumn> gemv_rows(MatrixModel model, const WeightRows& weight, const BFloat16Activations& activations,
                                  std::size_t first_chunk, std::size_t chunks);

}  // namespace monojit::kernels::reference
