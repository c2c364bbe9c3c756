#include "tools/emulate/json_text.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "environment/edit_distance.h"
#include "kernels/common/error.h"
#include "runtime/json_words.h"
#include "runtime/strict_json.h"

namespace monojit::tools {
namespace {

/// Far more than arguments need.
constexpr std::size_t kMaxDepth = 64;

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  if (const std::string problem = runtime::json_problem(text, kMaxDepth); !problem.empty())
    throw UserError(fmt::format("{}: {}", where, problem));
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw UserError(fmt::format("{} is no JSON: {}", where, runtime::json_words(error)));
  }
}

std::string nearest_hint(std::string_view name, std::span<const std::string_view> candidates) {
  const auto distance = [&](std::string_view candidate) { return environment::edit_distance(name, candidate); };
  const auto nearest = std::ranges::min_element(candidates, {}, distance);
  if (nearest == candidates.end() || distance(*nearest) > std::max<std::size_t>(name.size(), 3) / 2) return {};
  return fmt::format(", did you mean '{}'?", *nearest);
}

void check_keys(const Json& object, std::initializer_list<std::string_view> known, std::string_view where) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    throw UserError(fmt::format("{}: unknown key '{}'{}; keys are {}", where, key,
                                nearest_hint(key, {known.begin(), known.size()}), fmt::join(known, ", ")));
  }
}

std::string text_member(const Json& object, const char* key, std::string_view where) {
  const Json& value = object.at(key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty())
    throw UserError(fmt::format("{}: \"{}\" has to be a text, not {}", where, key, value.dump()));
  return value.get<std::string>();
}

double number_member(const Json& object, const char* key, std::string_view where) {
  const Json& value = object.at(key);
  if (!value.is_number())
    throw UserError(fmt::format("{}: \"{}\" has to be a number, not {}", where, key, value.dump()));
  return value.get<double>();
}

std::uint64_t unsigned_member(const Json& object, const char* key, std::string_view where) {
  const Json& value = object.at(key);
  if (!value.is_number_unsigned())
    throw UserError(fmt::format("{}: \"{}\" has to be a whole number from 0, not {}", where, key, value.dump()));
  return value.get<std::uint64_t>();
}

}  // namespace monojit::tools
