#include "tools/tensor_files.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/error.h"

namespace monojit::tools {
namespace {

using kernels::Tensor;

constexpr std::string_view kBefore = "in/";

bool is_before(const FileTensor& tensor) { return tensor.name.starts_with(kBefore); }

Tensor& find(const std::filesystem::path& file, std::string_view name, std::vector<Tensor>& tensors) {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  if (found != tensors.end()) return *found;
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const Tensor& tensor : tensors) names.push_back(tensor.name);
  throw UserError(fmt::format("{}: the kernel has no argument '{}'; arguments are {}", file.string(), name,
                              fmt::join(names, ", ")));
}

void replace(const std::filesystem::path& file, std::string_view arch, FileTensor&& given, Tensor& tensor) {
  const std::string_view wanted = file_dtype(tensor.dtype, arch);
  const bool raw_fp8 = tensor.dtype == kernels::DType::kFp8 && given.dtype == "U8";
  if (given.dtype != wanted && !raw_fp8) {
    throw UserError(
        fmt::format("{}: tensor '{}' is {}, the kernel wants {}", file.string(), tensor.name, given.dtype, wanted));
  }
  const bool scalar = given.shape.empty();
  tensor.shape = scalar ? std::vector<std::int64_t>{1} : std::move(given.shape);
  tensor.bytes = std::move(given.bytes);
}

void append(std::string_view prefix, std::string_view arch, const std::vector<Tensor>& tensors,
            std::vector<FileTensor>& out) {
  for (const Tensor& tensor : tensors) {
    out.push_back(
        {std::string(prefix) + tensor.name, std::string(file_dtype(tensor.dtype, arch)), tensor.shape, tensor.bytes});
  }
}

}  // namespace

void replace_tensors(const std::filesystem::path& file, std::string_view arch, std::vector<Tensor>& tensors) {
  std::vector<FileTensor> given = read_safetensors(file);
  if (std::ranges::any_of(given, is_before)) {
    std::erase_if(given, [](const FileTensor& tensor) { return !is_before(tensor); });
    for (FileTensor& tensor : given) tensor.name.erase(0, kBefore.size());
  }
  for (FileTensor& tensor : given) replace(file, arch, std::move(tensor), find(file, tensor.name, tensors));
}

void save_tensors(const std::filesystem::path& file, std::string_view arch, const std::vector<Tensor>& before,
                  const std::vector<Tensor>& after, const FileMetadata& metadata) {
  std::vector<FileTensor> out;
  append(kBefore, arch, before, out);
  append("", arch, after, out);
  write_safetensors(file, out, metadata);
}

}  // namespace monojit::tools
