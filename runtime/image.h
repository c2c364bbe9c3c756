#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "runtime/kernel_record.h"

namespace monojit::runtime {

/// HIP takes an image by its address alone and reads as far as its headers say. Throws CodeObjectError unless `image`
/// is a linked ELF file for the chip `arch` ("gfx950") whose headers stay within it, and whose symbols and metadata
/// have the kernel `symbol`. Gives what they say of it: symbol, resources and arguments. What the kernel's code is, is
/// not looked at.
KernelRecord image_record(std::span<const std::byte> image, std::string_view arch, std::string_view symbol);

}  // namespace monojit::runtime
