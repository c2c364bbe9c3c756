#pragma once

#include <cstddef>
#include <string_view>

namespace monojit::environment {

/// Letters to be put in, taken out or changed to make one name of the other: for advice on names that are none.
std::size_t edit_distance(std::string_view from, std::string_view to);

}  // namespace monojit::environment
