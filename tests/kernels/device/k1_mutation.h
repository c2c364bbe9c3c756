#pragma once

#include <cstdint>
#include <span>

#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "tests/kernels/device/mutant.h"

namespace monojit::tests {

/// A case of `key` whose rows belong to `requests`.
kernels::minimax_m3::K1Case requests_case(const kernels::minimax_m3::K1Key& key,
                                          const kernels::minimax_m3::Requests& requests);

/// Demands that `a_case` agrees with the references, and what check_mutations() of a plan does.
void check_mutations(const kernels::minimax_m3::K1Case& a_case, std::span<const Surroundings> runs,
                     std::span<const Mutation> mutations, std::span<const Mutation> harmless = {});

}  // namespace monojit::tests
