#pragma once

#include <string_view>
#include <vector>

#include "kernels/common/reference/matrix_core.h"
#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels::minimax_m3 {

/// Compares what a launch left, `after`, with the reference on `before`. Rows:
///   h_out, q_out, iq_out, k_cache, v_cache, k_scale, v_scale, index_cache  whole tensors, untouched elements too
///   x8       bytes and words, scales and tags, of the activations in the scratch; only above two tokens
///   qkv      the 32-bit words, values and tags, of the projection's pairs in the scratch
///   iscore   the words of all pairs, untouched ones too
///   flags    the words of the done flags' pairs; only with signal
///   scratch  bytes of the scratch outside of all these: health words, rows of other tokens
///   tl       whole, only without timeline: not written
///   inputs   bytes of all tensors that the kernel only reads
/// max_error and bound belong to one element: the one whose distance from the wide reference is the largest share of
/// its own bound. Both are 0 where no element needs a bound.
std::vector<Comparison> compare_tensors(const K1Key& key, std::string_view arch, const std::vector<Tensor>& before,
                                        const std::vector<Tensor>& after,
                                        reference::MatrixModel model = reference::MatrixModel::kCdna3);

}  // namespace monojit::kernels::minimax_m3
