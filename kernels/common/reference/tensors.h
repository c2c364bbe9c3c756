#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"

namespace monojit::kernels::reference {

std::size_t element_bytes(DType dtype);
std::string_view dtype_name(DType dtype);
/// "[2][6144]".
std::string shape_text(std::span<const std::int64_t> shape);
/// 1 for a shape without dimensions.
std::size_t element_count(std::span<const std::int64_t> shape);

/// All bytes zero.
Tensor make_tensor(std::string name, DType dtype, std::vector<std::int64_t> shape);

/// The tensor of that name. Throws UserError when there is none.
const Tensor& named(const std::vector<Tensor>& tensors, std::string_view name);
Tensor& named(std::vector<Tensor>& tensors, std::string_view name);

/// The elements of a tensor as T; T must have the size of its elements, or divide its bytes.
template <class T>
std::span<const T> elements(const Tensor& tensor) {
  return {reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}
template <class T>
std::span<T> elements(Tensor& tensor) {
  return {reinterpret_cast<T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}
template <class T>
std::span<const T> elements(const std::vector<Tensor>& tensors, std::string_view name) {
  return elements<T>(named(tensors, name));
}
template <class T>
std::span<T> elements(std::vector<Tensor>& tensors, std::string_view name) {
  return elements<T>(named(tensors, name));
}

}  // namespace monojit::kernels::reference
