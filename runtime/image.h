#pragma once

#include <cstddef>
#include <span>

namespace monojit::runtime {

/// HIP takes an image by its address alone and reads as far as its headers say. Throws CodeObjectError unless `image`
/// is an ELF file for AMD GPUs whose headers stay within it.
void check_image(std::span<const std::byte> image);

}  // namespace monojit::runtime
