#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"

/// safetensors files: 8 bytes header length (little-endian), the header (JSON: name -> {dtype, shape, data_offsets};
/// the key `__metadata__` is a map of strings, the metadata), then the tensors' bytes, row-major, little-endian, one
/// after the other without gaps.
namespace monojit::tools {

/// One tensor as a file holds it. `dtype` is the file's name for it ("BF16").
struct FileTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// Every tensor of a file, in the order of their names. Throws UserError naming the file and what is wrong with it when
/// it can't be read, is cut short or malformed, holds a dtype that isn't known, a name twice, or bytes of no tensor or
/// of two.
std::vector<FileTensor> read_safetensors(const std::filesystem::path& file);

using FileMetadata = std::map<std::string, std::string>;

/// A file's metadata; empty: it has none. Throws as read_safetensors() does.
FileMetadata read_metadata(const std::filesystem::path& file);

/// Throws UserError naming the file and the reason when it can't be written; then what was there is left as it was.
void write_safetensors(const std::filesystem::path& file, const std::vector<FileTensor>& tensors,
                       const FileMetadata& metadata = {});

/// The name of a dtype in a file. FP8 is OCP E4M3 on gfx950, the FNUZ form on gfx942.
std::string_view file_dtype(kernels::DType dtype, std::string_view arch);

}  // namespace monojit::tools
