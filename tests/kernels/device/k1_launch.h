#pragma once

#include <string>
#include <vector>

#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "tests/kernels/device/launch.h"

namespace monojit::tests {

/// The build key of a typed key.
kernels::BuildKey build_key(const kernels::minimax_m3::K1Key& key);

/// A case of `key` on the arch of device().
kernels::minimax_m3::K1Case device_case(const kernels::minimax_m3::K1Key& key, std::uint64_t seed = 0);

/// All tensors of `a_case` after one launch of its kernel.
std::vector<kernels::Tensor> launched(const kernels::minimax_m3::K1Case& a_case);

/// Empty when every output agrees with the references, else which ones don't and by how much.
std::string disagreement(const kernels::minimax_m3::K1Case& a_case, const std::vector<kernels::Tensor>& after);

/// Whether tensor `name` holds the same bytes in both.
bool same(const std::vector<kernels::Tensor>& a, const std::vector<kernels::Tensor>& b, std::string_view name);

}  // namespace monojit::tests
