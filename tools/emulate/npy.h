#pragma once

#include <filesystem>

#include "tools/emulate/dtype.h"

/// NumPy's .npy files: one array. The bytes 0x93 "NUMPY", the version, the length of the header (16 bits in version 1,
/// 32 in 2 and 3), the header (a Python dict: descr, fortran_order, shape), then the elements.
namespace monojit::tools {

/// The array of a file, in C order whatever the file's. Types that NumPy does not know are bits: 16-bit and 8-bit
/// unsigned integers or void. Throws UserError naming the file and what is wrong with it when it can't be read, is cut
/// short or malformed, big-endian, or of a type that no buffer can have.
Array read_npy(const std::filesystem::path& file);

/// Version 1, C order. Types that NumPy lacks become unsigned integers of their size. Throws UserError naming the file
/// and the reason when it can't be written; then what was there is left as it was.
void write_npy(const std::filesystem::path& file, const Array& array);

}  // namespace monojit::tools
