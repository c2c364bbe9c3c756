#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kernels/common/family.h"

namespace monojit::kernels {

/// A pattern gives no more keys than this; a list of patterns that want more is a mistake.
inline constexpr std::size_t kMostPatternKeys = 100'000;

/// Every key that `text` stands for, each once, in the order of the pattern: the last field that has several values
/// varies fastest.
///
///   pattern = family [ "{" [ field { "," field } ] "}" ]
///   field   = name "=" values
///   values  = "*" | value { "|" value }
///   value   = word | integer ".." integer
///
/// `*` is every value that the field takes (not of floats), `a..b` the integers from a to b. Fields that are left out
/// have their default; a key is a pattern of one key. Throws UserError naming what is wrong, or how many keys there
/// would be when that is more than `most`.
std::vector<BuildKey> expand_pattern(std::string_view text, std::size_t most = kMostPatternKeys);

/// Whether the text says more than one key by its form: it has `*`, `|` or `..`.
bool is_pattern(std::string_view text);

}  // namespace monojit::kernels
