#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"

/// Mailboxes: pairs of a value and the tag of the launch that put it (specification §3.4).
namespace monojit::kernels::minimax_m3 {

/// The tag that marks this launch's pairs.
std::uint32_t launch_tag(const std::vector<Tensor>& tensors);

struct Pair {
  std::uint32_t value = 0;
  std::uint32_t tag = 0;
};

/// Pair `index` of the region that begins at byte `region` of tensor `name`.
Pair stored_pair(const std::vector<Tensor>& tensors, std::string_view name, std::int64_t region, std::int64_t index);
/// Puts a value there, with the tag of this launch.
void put_pair(std::vector<Tensor>& tensors, std::string_view name, std::int64_t region, std::int64_t index,
              std::uint32_t value);

/// Projection value of `row` for `token`, as it stands in the scratch.
float projected(const std::vector<Tensor>& tensors, int token, int row);

}  // namespace monojit::kernels::minimax_m3
