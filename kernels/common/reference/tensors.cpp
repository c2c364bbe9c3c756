#include "kernels/common/reference/tensors.h"

#include <algorithm>
#include <utility>

#include "kernels/common/error.h"

namespace monojit::kernels::reference {
namespace {

struct DTypeFacts {
  std::size_t bytes;
  std::string_view name;
};

DTypeFacts facts(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return {1, "uint8"};
    case DType::kInt32:
      return {4, "int32"};
    case DType::kInt64:
      return {8, "int64"};
    case DType::kBFloat16:
      return {2, "bf16"};
    case DType::kFloat32:
      return {4, "f32"};
    case DType::kFp8:
      return {1, "fp8"};
  }
  return {1, "unknown"};
}

}  // namespace

std::size_t element_bytes(DType dtype) { return facts(dtype).bytes; }

std::string_view dtype_name(DType dtype) { return facts(dtype).name; }

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += "[" + std::to_string(extent) + "]";
  return text.empty() ? "[]" : text;
}

std::size_t element_count(std::span<const std::int64_t> shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

Tensor make_tensor(std::string name, DType dtype, std::vector<std::int64_t> shape) {
  const std::size_t bytes = element_count(shape) * element_bytes(dtype);
  return {std::move(name), dtype, std::move(shape), std::vector<std::byte>(bytes)};
}

const Tensor& named(const std::vector<Tensor>& tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  if (found == tensors.end()) throw UserError("there is no tensor \"" + std::string(name) + "\"");
  return *found;
}

Tensor& named(std::vector<Tensor>& tensors, std::string_view name) {
  return const_cast<Tensor&>(named(std::as_const(tensors), name));
}

}  // namespace monojit::kernels::reference
