#include "tools/emulate/json_text.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "environment/edit_distance.h"
#include "kernels/common/error.h"
#include "runtime/json_words.h"

namespace monojit::tools {
namespace {

/// Far more than arguments need: what looks at a value calls itself for what is in it, and the stack has an end.
constexpr int kMaxDepth = 64;

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  std::optional<std::string> twice;
  const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxDepth) throw UserError(fmt::format("{} has lists and objects more than {} deep", where, kMaxDepth));
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second && !twice) {
      twice = value.get<std::string>();
    }
    return true;
  };
  Json value;
  try {
    value = Json::parse(text, look);
  } catch (const Json::exception& error) {
    // A parse_error, or out_of_range for a number like 1e400.
    throw UserError(fmt::format("{} is no JSON: {}", where, runtime::json_words(error)));
  }
  if (twice) throw UserError(fmt::format("{} has '{}' twice in one object", where, *twice));
  return value;
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
