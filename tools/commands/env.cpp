#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cache/file.h"
#include "cache/folder.h"
#include "cache/read_only_tier.h"
#include "cache/remote/remote_tier.h"
#include "cache/remote/url.h"
#include "cache/settings.h"
#include "environment/edit_distance.h"
#include "environment/variables.h"
#include "runtime/hip/device.h"
#include "tools/commands/commands.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

using environment::Variable;

constexpr const char* kXdgCacheHome = "XDG_CACHE_HOME";

struct Setting {
  std::string value;   ///< empty: none
  std::string origin;  ///< "environment", "default", or what else gives the value: a variable, the cache folder
};

/// A URL without user and password. Of one that can't be read nothing is shown: any part may be a password.
std::string without_secrets(const std::string& url) {
  if (std::holds_alternative<std::string>(cache::parse_remote_url(url))) return "***";
  const std::size_t at = url.rfind('@');
  if (at == std::string::npos) return url;
  const std::size_t scheme = url.find("://");
  const std::string start = scheme < at ? url.substr(0, scheme + 3) : "";
  return start + "***" + url.substr(at);
}

Setting setting_of(const Variable& variable) {
  if (const char* value = environment::value(variable.id)) {
    return {variable.id == environment::Id::kCacheRemote ? without_secrets(value) : value, "environment"};
  }
  const cache::UserFolder folder = cache::user_folder();
  if (variable.id == environment::Id::kCacheDir && !folder.path.empty()) return {folder.path.string(), folder.origin};
  if (variable.id == environment::Id::kCacheUmask) {
    const unsigned mask = cache::Modes::of_folder(folder.path).umask();
    if (mask != cache::Modes().umask()) return {fmt::format("{:03o}", mask), "cache folder"};
  }
  return {"", "default"};
}

/// Empty: no variable's name is near.
std::string_view near_name(std::string_view name) {
  const std::string_view nearest = environment::nearest(name).name;
  const std::size_t own_letters = name.size() - environment::kPrefix.size();
  return environment::edit_distance(name, nearest) <= std::max<std::size_t>(own_letters, 2) / 2 ? nearest : "";
}

std::string advice(const std::string& name) {
  const std::string_view near = near_name(name);
  return fmt::format("{} means nothing to monojit{}", name,
                     near.empty() ? " (monojit env lists its variables)" : fmt::format(": is {} meant?", near));
}

void add_folder_problems(std::vector<std::string>& texts) {
  const cache::UserFolder folder = cache::user_folder();
  const char* xdg = std::getenv(kXdgCacheHome);
  const bool is_relative = xdg != nullptr && *xdg != '\0' && *xdg != '/';
  if (is_relative && folder.origin != environment::name(environment::Id::kCacheDir)) {
    texts.push_back(fmt::format("{}={} is not used: it wants an absolute path", kXdgCacheHome, cache::printable(xdg)));
  }
  if (folder.path.empty()) {
    texts.emplace_back("no cache folder: caching is off (set MONOJIT_CACHE_DIR)");
  } else if (const auto obstacle = cache::obstacle_in(folder.path)) {
    texts.push_back(cache::folder_problem(folder.path, obstacle->error, obstacle->place));
  }
}

/// What can be told of a library without loading it, which may take seconds. A name without a folder is the loader's
/// to look for.
void add_library_problem(environment::Id id, std::vector<std::string>& texts) {
  const char* path = environment::value(id);
  if (path == nullptr || std::strchr(path, '/') == nullptr) return;
  constexpr std::string_view kElf = "\177ELF";
  std::error_code error;
  const cache::FileBytes start = cache::read_head(std::filesystem::canonical(path, error), kElf.size());
  std::string problem = error ? fmt::format("can't be opened ({})", error.message()) : start.problem();
  if (problem.empty() && !std::ranges::equal(start.bytes, std::as_bytes(std::span(kElf)))) problem = "is no library";
  if (!problem.empty())
    texts.push_back(fmt::format("{}={} {}", environment::name(id), cache::printable(path), problem));
}

/// Why what a variable says is not in force: its readers' own words.
std::vector<std::string> problems() {
  std::vector<std::string> texts;
  const cache::Warnings warnings([&](std::string_view text) { texts.emplace_back(text); });
  add_folder_problems(texts);
  const cache::Settings settings = cache::Settings::from_environment(warnings);
  cache::ReadOnlyTier(settings.read_only, warnings).open_once();
  const cache::RemoteTier remote(settings.remote, warnings);
  for (const environment::Id id : {environment::Id::kHipLibrary, environment::Id::kComgrLibrary}) {
    add_library_problem(id, texts);
  }
  try {
    (void)runtime::device_count(*runtime::HipTable::open(runtime::Provider::kEmulator));
  } catch (const std::exception& error) {
    texts.emplace_back(error.what());
  }
  return texts;
}

Json to_json() {
  Json variables = Json::array();
  for (const Variable& variable : environment::kVariables) {
    const Setting setting = setting_of(variable);
    variables.push_back({{"name", variable.name},
                         {"meaning", variable.meaning},
                         {"default", variable.fallback},
                         {"value", setting.value.empty() ? Json(nullptr) : Json(setting.value)},
                         {"origin", setting.origin}});
  }
  Json unknown = Json::array();
  for (const std::string& name : environment::unknown()) {
    unknown.push_back({{"name", name}, {"nearest", near_name(name).empty() ? Json(nullptr) : Json(near_name(name))}});
  }
  return {{"variables", variables}, {"unknown", unknown}, {"problems", problems()}};
}

void print_text() {
  Table table({Table::Align::kLeft, Table::Align::kLeft, Table::Align::kLeft, Table::Align::kLeft});
  table.add({"VARIABLE", "VALUE", "FROM", "MEANING"});
  for (const Variable& variable : environment::kVariables) {
    const Setting setting = setting_of(variable);
    table.add({variable.name, setting.value.empty() ? fmt::format("({})", variable.fallback) : setting.value,
               setting.origin, std::string(variable.meaning)});
  }
  print("{}", table.text());
  for (const std::string& problem : problems()) say(problem);
}

}  // namespace

void warn_of_unknown_variables() {
  for (const std::string& name : environment::unknown()) say(advice(name));
}

void add_env(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  CLI::App& command =
      *app.add_subcommand("env", "List the environment variables: meaning, value, and where the value comes from");
  command.add_flag("--json", *json, "print JSON");
  command.callback([json] {
    if (*json) {
      print_json(to_json());
    } else {
      print_text();
    }
  });
}

}  // namespace monojit::tools
