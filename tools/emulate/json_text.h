#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report.h"

/// JSON that a user wrote: strict, with messages that say where.
namespace monojit::tools {

/// Throws UserError naming `where`, line and column for text that is no JSON, and for what json_problem() tells of.
Json parse_json(std::string_view text, std::string_view where);

/// Throws UserError when `object` has a key that is none of `known`, naming it and the nearest.
void check_keys(const Json& object, std::initializer_list<std::string_view> known, std::string_view where);

/// ", did you mean 'x'?" for the candidate that `name` is nearest to; empty when none is near.
std::string nearest_hint(std::string_view name, std::span<const std::string_view> candidates);

/// Members of an object by type. Throw UserError naming `where` and the key for another type.
std::string text_member(const Json& object, const char* key, std::string_view where);
double number_member(const Json& object, const char* key, std::string_view where);
std::uint64_t unsigned_member(const Json& object, const char* key, std::string_view where);

}  // namespace monojit::tools
