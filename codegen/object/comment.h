#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace monojit::codegen {

/// A linked code object without its .comment section, which names the linker: LLD_VERSION in the environment says how.
/// Throws CodegenError when `bytes` are no ELF file.
std::vector<std::byte> without_comment(std::span<const std::byte> bytes);

}  // namespace monojit::codegen
