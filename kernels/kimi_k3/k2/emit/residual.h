#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

// AttnRes, workgroups 0..55, a slice of 128 columns each (specification §8.3..8.6).

/// In: AR pairs. Out: delta in LDS, bf16 values of the attention's output summed over the ranks.
void reduce_attention(const Context& k, const Uniform<Int32>& slice);

/// In: delta, blocks, prefix. Out: prefix; the sources' slices in LDS; sums of squares and scores of the slice in PART.
void residual_slice(const Context& k, const Uniform<Int32>& slice);

/// Workgroup t, for token t. In: PART of all slices. Out: softmax numerators and denominator in WGT.
void residual_gate(const Context& k, const Uniform<Int32>& token);

/// In: WGT, the sources' slices in LDS. Out: the slice of the mixed, normed row in XROW, and its flag.
void residual_mix(const Context& k, const Uniform<Int32>& slice);

}  // namespace monojit::kernels::kimi_k3
