#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace monojit::runtime {

/// HIP takes an image by its address alone and reads as far as its headers say. Throws CodeObjectError unless `image`
/// is an ELF file for AMD GPUs whose headers stay within it.
void check_image(std::span<const std::byte> image);

/// The smallest that check_image() takes: an ELF header for AMD GPUs with nothing behind it, for a HIP that runs none.
std::vector<std::byte> empty_image();

}  // namespace monojit::runtime
