#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace monojit::runtime {

/// What a text may hold though it is JSON, and would be read as something else: a member twice, a number that is too
/// small to be told from 0 or too large, a NUL, where messages would end; or lists and objects more than `max_depth`
/// deep, as what looks at a value calls itself for what is in it. In words; empty: none of these, though `text` need
/// not be JSON. Nothing is built of it.
std::string json_problem(std::string_view text, std::size_t max_depth);

}  // namespace monojit::runtime
