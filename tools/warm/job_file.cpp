#include "tools/warm/job_file.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/common/error.h"
#include "runtime/json_words.h"
#include "runtime/strict_json.h"

namespace monojit::tools {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 2> kFileMembers = {"jobs", "arch"};
constexpr std::array<std::string_view, 5> kJobMembers = {"key", "model", "family", "fields", "arch"};

/// {"jobs": [{"fields": {"rows": [1]}}]} is 5 deep.
constexpr std::size_t kMaxDepth = 16;
/// Longer than any list of jobs; what is endless is found to be none.
constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

[[noreturn]] void refuse(const std::string& place, std::string_view problem) {
  throw UserError(fmt::format("{}: {}", place, problem));
}

json parse(std::string_view text, const std::string& place) {
  if (const std::string problem = runtime::json_problem(text, kMaxDepth); !problem.empty()) refuse(place, problem);
  return json::parse(text);
}

void check_members(const json& object, std::span<const std::string_view> known, const std::string& place) {
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    refuse(place, fmt::format("unknown member \"{}\"; there are {}", name, fmt::join(known, ", ")));
  }
}

std::string text_of(const json& value, std::string_view member, const std::string& place) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    refuse(place, fmt::format("\"{}\" must be a text that is not empty", member));
  }
  return value.get<std::string>();
}

/// A text, or a list of texts.
std::vector<std::string> archs_of(const json& object, const std::string& place) {
  const auto found = object.find("arch");
  if (found == object.end()) return {};
  std::vector<std::string> archs;
  const json list = found->is_array() ? *found : json::array({*found});
  for (const json& arch : list) archs.push_back(text_of(arch, "arch", place));
  if (archs.empty()) refuse(place, "\"arch\" is an empty list");
  return archs;
}

/// What separates fields must not stand in one, or it would be several.
void check_is_one(std::string_view text, const std::string& name, const std::string& place) {
  if (text.find_first_of("{},=") != std::string_view::npos)
    refuse(place, fmt::format("field \"{}\" holds one of {{ }} , =: each field is a member of its own", name));
}

/// A field's value as a pattern has it.
std::string value_text(const json& value, const std::string& name, const std::string& place) {
  if (value.is_string()) {
    std::string text = text_of(value, name, place);
    check_is_one(text, name, place);
    return text;
  }
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_number()) return value.dump();
  if (!value.is_array() || value.empty()) {
    refuse(place, fmt::format("field \"{}\" must be a number, a text, true, false or a list of these", name));
  }
  std::vector<std::string> values;
  for (const json& each : value) {
    if (each.is_array()) refuse(place, fmt::format("field \"{}\" has a list within its list", name));
    values.push_back(value_text(each, name, place));
  }
  return fmt::format("{}", fmt::join(values, "|"));
}

std::string pattern_of(const json& job, const std::string& place) {
  if (const auto key = job.find("key"); key != job.end()) {
    if (job.contains("fields")) refuse(place, "\"fields\" goes with \"family\", not with \"key\"");
    return text_of(*key, "key", place);
  }
  const json fields = job.value("fields", json::object());
  if (!fields.is_object()) refuse(place, "\"fields\" must be an object");
  std::vector<std::string> texts;
  for (const auto& [name, value] : fields.items()) {
    check_is_one(name, name, place);
    texts.push_back(fmt::format("{}={}", name, value_text(value, name, place)));
  }
  return fmt::format("{}{{{}}}", text_of(job.at("family"), "family", place), fmt::join(texts, ","));
}

WarmWish wish_of(const json& job, std::string place, const std::vector<std::string>& archs) {
  WarmWish wish{.pattern = {}, .model = {}, .archs = archs, .place = std::move(place)};
  if (job.is_string()) {
    wish.pattern = text_of(job, "key", wish.place);
    return wish;
  }
  if (!job.is_object()) refuse(wish.place, "a job must be a text or an object");
  check_members(job, kJobMembers, wish.place);
  std::vector<std::string> ways;
  for (const char* way : {"key", "model", "family"}) {
    if (job.contains(way)) ways.push_back(fmt::format("\"{}\"", way));
  }
  if (ways.size() != 1) {
    refuse(wish.place, fmt::format("a job has one of \"key\", \"model\" and \"family\", this one has {}",
                                   ways.empty() ? "none" : fmt::format("{}", fmt::join(ways, " and "))));
  }
  if (auto own = archs_of(job, wish.place); !own.empty()) wish.archs = std::move(own);
  if (job.contains("model")) {
    if (job.contains("fields")) refuse(wish.place, "\"fields\" goes with \"family\", not with \"model\"");
    wish.model = text_of(job.at("model"), "model", wish.place);
  } else {
    wish.pattern = pattern_of(job, wish.place);
  }
  return wish;
}

std::vector<WarmWish> wishes_of(const json& file, const std::string& name) {
  std::vector<std::string> archs;
  json jobs = file;
  if (file.is_object() && file.contains("jobs")) {
    check_members(file, kFileMembers, name);
    archs = archs_of(file, name);
    jobs = file.at("jobs");
    if (!jobs.is_array()) refuse(name, "\"jobs\" must be a list");
  } else if (!file.is_array()) {
    jobs = json::array({file});
  }
  std::vector<WarmWish> wishes;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    wishes.push_back(wish_of(jobs[i], fmt::format("{}, job {}", name, i + 1), archs));
  }
  return wishes;
}

/// `place` is the stream's name.
std::string read(std::istream& stream, const std::string& place) {
  std::string text;
  std::array<char, 65536> part;
  while (stream.read(part.data(), part.size()), stream.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kMaxFileBytes)
      refuse(place, fmt::format("holds more than {} MiB: it is no list of jobs", kMaxFileBytes >> 20));
  }
  if (!stream.eof() || stream.bad()) refuse(place, "can't be read");
  return text;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

/// Nothing when not even the first line is JSON by itself.
std::optional<std::vector<WarmWish>> wishes_of_lines(std::string_view text, const std::string& name) {
  std::vector<WarmWish> wishes;
  int number = 0;
  for (const auto part : std::views::split(text, '\n')) {
    const std::string_view line(part.begin(), part.end());
    ++number;
    if (is_blank(line)) continue;
    const std::string place = fmt::format("{}, line {}", name, number);
    try {
      wishes.push_back(wish_of(parse(line, place), place, {}));
    } catch (const json::parse_error& error) {
      if (wishes.empty()) return std::nullopt;
      refuse(place, runtime::json_words(error));
    }
  }
  return wishes;
}

/// Of a file, so that a message about it can be read whatever it is called.
std::string shown_name(std::string_view file) {
  constexpr std::size_t kMost = 300;
  constexpr std::size_t kStart = 200;
  if (file.size() <= kMost) return std::string(file);
  return fmt::format("{}...{}", file.substr(0, kStart), file.substr(file.size() - (kMost - kStart)));
}

}  // namespace

std::vector<WarmWish> parse_job_file(std::string_view text, const std::string& name) {
  std::vector<WarmWish> wishes;
  try {
    wishes = wishes_of(parse(text, name), name);
  } catch (const json::parse_error& error) {
    std::optional<std::vector<WarmWish>> lines = wishes_of_lines(text, name);
    if (!lines) refuse(name, "is no JSON, nor JSON lines: " + runtime::json_words(error));
    wishes = *std::move(lines);
  }
  if (wishes.empty()) refuse(name, "holds no job");
  return wishes;
}

std::vector<WarmWish> read_job_file(const std::string& file) {
  if (file == "-") return parse_job_file(read(std::cin, "standard input"), "standard input");
  std::ifstream stream(file, std::ios::binary);
  const std::string name = shown_name(file);
  return parse_job_file(read(stream, "--file " + name), name);
}

}  // namespace monojit::tools
