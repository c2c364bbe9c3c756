#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"
#include "tools/safetensors.h"

/// A kernel's tensors in safetensors files, by argument name.
namespace monojit::tools {

/// Replaces the tensors of `tensors` that `file` holds. A file that save_tensors() made, with entries `in/NAME`, gives
/// those alone; any other gives all of its entries. A scalar may be of shape [] or [1]; FP8 may be stored as U8. Throws
/// UserError naming the tensor when no argument has its name or the dtype differs.
void replace_tensors(const std::filesystem::path& file, std::string_view arch, std::vector<kernels::Tensor>& tensors);

/// Writes every tensor of `before` as `in/NAME` and of `after` as `NAME`, and the metadata.
void save_tensors(const std::filesystem::path& file, std::string_view arch, const std::vector<kernels::Tensor>& before,
                  const std::vector<kernels::Tensor>& after, const FileMetadata& metadata = {});

}  // namespace monojit::tools
