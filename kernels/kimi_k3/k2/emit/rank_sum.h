#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Waits for what all eight ranks pushed of one word of a row, and adds it up in f32 in rank order, from rank 0's value
/// on (specification §8.3). `region`: [source][token][words].
Vec<Float32, 2> sum_over_ranks(const Context& k, const Region& region, const Int32& token, const Int32& word);

/// The lane's place in slices of 128 columns: a wave a token, a word a lane.
struct SliceLane {
  Int32 token;  ///< of the wave; at most the last one
  Int32 word;   ///< 0..63 of the slice
  Uniform<Bool> live;
};
SliceLane slice_lane(const Context& k);

}  // namespace monojit::kernels::kimi_k3
