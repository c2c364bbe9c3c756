#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace monojit::runtime {

/// Where one of monojit's own shared libraries may lie, the likeliest place first: $MONOJIT_LIBRARY_DIR alone when it
/// is set, else beside the program or library that holds this code, then in ../lib from there. Paths need not exist.
std::vector<std::filesystem::path> library_candidates(std::string_view file_name);

}  // namespace monojit::runtime
