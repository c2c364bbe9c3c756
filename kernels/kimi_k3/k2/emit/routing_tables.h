#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.11, every workgroup: the step's distinct experts, numbered as slots in the order of their ids. In:
/// ROUTE. Out, in LDS: route; expert of a slot; kof: which pick of a token a slot's expert is, or -1. Returns how many
/// slots there are.
Uniform<Int32> build_routing_tables(const Context& k);

}  // namespace monojit::kernels::kimi_k3
