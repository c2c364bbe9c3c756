#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"

namespace monojit::kernels::reference {

/// A tensor whose memory is somebody else's: a device's, or a file's. For weights that are too large to copy.
struct TensorView {
  std::string name;
  DType dtype = DType::kUint8;
  std::vector<std::int64_t> shape;
  std::span<std::byte> bytes;
};

/// The tensors of one rank by name.
class RankMemory {
 public:
  void add(TensorView view) { views_.push_back(std::move(view)); }
  std::span<const TensorView> views() const { return views_; }
  bool has(std::string_view name) const;
  /// Throws UserError when there is none.
  const TensorView& view(std::string_view name) const;
  TensorView& view(std::string_view name);

  /// The elements as T, which must have their size or divide the tensor's.
  template <class T>
  std::span<T> of(std::string_view name) const {
    const TensorView& found = view(name);
    return {reinterpret_cast<T*>(found.bytes.data()), found.bytes.size() / sizeof(T)};
  }

 private:
  std::vector<TensorView> views_;
};

}  // namespace monojit::kernels::reference
