#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/emulate/buffer_spec.h"
#include "tools/emulate/code_object.h"

/// What an argument file (ARGS.json, docs/emulate.md) says about one launch.
namespace monojit::tools {

struct ArgumentValue {
  std::vector<std::byte> bytes;        ///< of a scalar or structure
  std::optional<std::size_t> buffer;   ///< index, of a pointer
  std::uint64_t buffer_offset = 0;     ///< bytes
  std::optional<std::uint32_t> local;  ///< bytes of dynamic LDS, of a pointer to it
};

struct ArgumentFile {
  std::vector<BufferSpec> buffers;
  std::vector<ArgumentValue> values;      ///< one an argument of the kernel
  std::vector<KernelArgument> arguments;  ///< where they lie: the kernel's, or as the file's types give them
};

/// Reads `json`, which messages call `where`. `folder` is what relative paths start from. Generators without a seed
/// take the place of their buffer in the file, from 0. Throws UserError, followed by the kernel's arguments where the
/// file does not fit these.
ArgumentFile parse_arguments(const Json& json, const KernelInfo& kernel, const std::string& where,
                             const std::filesystem::path& folder);

/// The argument segment. `addresses` are those of the buffers; LDS pointers start at `static_lds` and raise
/// `dynamic_lds`, which has bytes of the caller's in front.
std::vector<std::byte> pack_arguments(const ArgumentFile& file, const std::vector<std::uint64_t>& addresses,
                                      std::uint32_t static_lds, std::uint32_t& dynamic_lds);

}  // namespace monojit::tools
