#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels::minimax_m3 {

/// Seeds that leave this remainder by kPadPeriod make the last request padding: slots -1, no visible keys.
inline constexpr std::uint64_t kPadPeriod = 4;
inline constexpr std::uint64_t kPadRemainder = 3;

/// One tensor for every argument, as a host would upload them for `arch`: activations and weights that give outputs of
/// order 1, the requests of random_requests(), zeroed mailboxes, and outputs and caches of K and V full of random
/// bytes.
std::vector<Tensor> generate_tensors(const K1Key& key, std::string_view arch, std::uint64_t seed);

}  // namespace monojit::kernels::minimax_m3
