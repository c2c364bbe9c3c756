#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "codegen/object/resources.h"

namespace monojit::codegen {

/// The kernels that an AMDGPU metadata note (msgpack, code object version 3 and later) describes; code sizes are not in
/// it. Throws CodegenError when it is malformed.
std::vector<KernelMetadata> read_metadata_note(std::span<const std::byte> note);

/// The same note as YAML.
std::string metadata_note_text(std::span<const std::byte> note);

}  // namespace monojit::codegen
