#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "kernels/kimi_k3/k2/reference/group.h"
#include "tools/safetensors.h"

/// A group's tensors in safetensors files: `rank3/core` is rank 3's, `core` every rank's.
namespace monojit::tools {

/// Tensors of experts' weights: too many bytes for a file.
bool is_expert_tensor(std::string_view name);

/// Replaces the tensors that `file` holds; where it has entries `in/NAME`, those alone. Returns their names, each
/// rank's own: "rank3/w13". Throws UserError, naming the entry, when a rank or tensor of its name is not there, or
/// dtype or shape differ.
std::set<std::string> replace_group_tensors(const std::filesystem::path& file,
                                            const kernels::kimi_k3::GroupMemory& memory);

/// Copies of all tensors but the experts' weights, as `in/NAME` where all ranks have the same, else as `in/rank3/NAME`.
std::vector<FileTensor> tensors_before(const kernels::kimi_k3::GroupMemory& memory);

/// Writes `before`, all that the kernel writes as `rank3/NAME`, and the metadata.
void save_group_tensors(const std::filesystem::path& file, std::vector<FileTensor> before,
                        const kernels::kimi_k3::GroupMemory& memory, const FileMetadata& metadata);

}  // namespace monojit::tools
