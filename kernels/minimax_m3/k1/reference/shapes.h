#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels::minimax_m3 {

/// Extents that a key leaves free.
struct FreeExtents {
  std::int64_t positions = 4096;  ///< rows of cos_sin
  std::int64_t blocks = 64;       ///< of 128 tokens, in the caches of K and V
  std::int64_t index_blocks = 1;  ///< in the index cache
  std::int64_t table_width = 1;   ///< row pitch of block_table
};

/// Any extent of at least 1.
inline constexpr std::int64_t kFree = -1;

struct TensorShape {
  std::string_view name;
  DType dtype = DType::kUint8;
  std::vector<std::int64_t> extents;
};

/// dtype and shape of every argument, in the order of the argument list.
std::vector<TensorShape> tensor_shapes(const K1Key& key, const FreeExtents& extents);

/// The same with kFree for the extents that a key leaves free.
std::vector<TensorShape> tensor_shapes(const K1Key& key);

}  // namespace monojit::kernels::minimax_m3
