#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace monojit::runtime {

/// HIP takes an image by its address alone and reads as far as its headers say. Throws CodeObjectError unless `image`
/// is a linked ELF file for the chip `arch` ("gfx950") whose headers stay within it, and whose symbols and metadata
/// have the kernel `symbol`. What the kernel's code is, and what else its metadata say, is not looked at.
void check_image(std::span<const std::byte> image, std::string_view arch, std::string_view symbol);

/// The smallest that check_image() takes, without a kernel's code, for a HIP that runs none.
std::vector<std::byte> hollow_image(std::string_view arch, std::string_view symbol);

}  // namespace monojit::runtime
