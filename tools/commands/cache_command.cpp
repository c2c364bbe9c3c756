#include "tools/commands/cache_command.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/entry_use.h"

namespace monojit::tools {
namespace {

using cache::StoredEntry;

std::filesystem::path folder_of(const CacheCommand& command) {
  std::filesystem::path folder = named_folder(command);
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error)) {
    const std::string text =
        fmt::format("cache folder {} is a file (set MONOJIT_CACHE_DIR to a folder)", folder.string());
    throw UserError(cache_advice(text, command.folder));
  }
  return folder;
}

/// A key as entries have it: with all of its fields. A text that is no key of this build may be one of another's.
std::string full_key(const std::string& name, const std::vector<StoredEntry>& entries) {
  const bool known = std::ranges::any_of(entries, [&](const StoredEntry& entry) { return entry.key.text == name; });
  return known ? name : kernels::BuildKey::parse(name).text();
}

}  // namespace

std::filesystem::path named_folder(const CacheCommand& command) {
  std::filesystem::path folder = cache_folder(command.folder);
  if (folder.empty()) throw UserError("there is no cache folder (set MONOJIT_CACHE_DIR, or use --cache-dir)");
  return folder;
}

OpenCache::OpenCache(const CacheCommand& command)
    : warnings([this, flag = command.folder](std::string_view text) {
        ++complaints;
        say(cache_advice(std::string(text), flag));
      }),
      settings(cache::Settings::from_environment(warnings)),
      store(folder_of(command), warnings, {.modes = settings.modes_in(folder_of(command)), .limits = {}}) {
  complaints = 0;  // what the settings had to say is none of the folder's
}

void OpenCache::check_complete() const {
  if (complaints != 0) throw Failed();
}

std::string count_text(std::size_t entries) {
  return fmt::format("{} {}", entries, entries == 1 ? "entry" : "entries");
}

bool is_current(const StoredEntry& entry) { return entry.problem.empty() && is_current(entry.key); }

std::vector<StoredEntry> find_entries(const std::vector<StoredEntry>& entries, const std::string& name) {
  const bool is_digest = name.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  const std::string digits = is_digest ? CLI::detail::to_lower(name) : "";
  const std::string text = is_digest ? "" : full_key(name, entries);
  std::vector<StoredEntry> found;
  std::ranges::copy_if(entries, std::back_inserter(found), [&](const StoredEntry& entry) {
    return is_digest ? cache::hex(entry.digest).starts_with(digits) : entry.key.text == text;
  });
  if (found.empty()) throw UserError(fmt::format("{}: not in the cache", name));
  if (is_digest && found.size() > 1)
    throw UserError(fmt::format("{}: {} entries begin with this; give more digits", name, found.size()));
  return found;
}

Json to_json(const StoredEntry& entry) {
  Json json = {{"digest", cache::hex(entry.digest)},
               {"file", entry.file.string()},
               {"file_bytes", entry.file_bytes},
               {"modified", entry.modified},
               {"problem", entry.problem.empty() ? Json(nullptr) : Json(entry.problem)}};
  if (!entry.problem.empty()) return json;
  json["key"] = entry.key.text;
  json["target"] = entry.key.target;
  json["options"] = entry.key.options;
  json["generator"] = entry.key.generator;
  json["toolchain"] = entry.key.toolchain;
  json["current"] = is_current(entry);
  json["object_bytes"] = entry.code_bytes;
  return json;
}

void check_removed(const cache::Removed& removed, const OpenCache& cache) {
  if (removed.failed == 0) return cache.check_complete();
  say(fmt::format("{} could not be removed: may this user write to {}?", count_text(removed.failed), cache.name()));
  throw Failed();
}

void remove_into(cache::Removed& removed, const StoredEntry& entry, OpenCache& cache) {
  if (cache.store.remove(entry.digest)) {
    ++removed.entries;
    removed.bytes += entry.file_bytes;
  } else if (std::error_code error; std::filesystem::exists(entry.file, error)) {
    ++removed.failed;
  }
}

void report_removed(const cache::Removed& removed, const OpenCache& cache, bool as_json) {
  if (as_json) {
    print_json({{"folder", cache.folder_json()},
                {"removed", removed.entries},
                {"removed_bytes", removed.bytes},
                {"failed", removed.failed}});
  } else {
    print("removed {}, {} bytes, from {}\n", count_text(removed.entries), removed.bytes, cache.name());
  }
  check_removed(removed, cache);
}

CLI::App& add_cache_command(CLI::App& parent, const char* name, const char* description,
                            const std::shared_ptr<CacheCommand>& command, void (*action)(const CacheCommand&)) {
  CLI::App& added = *parent.add_subcommand(name, description);
  add_cache_folder_flag(added, command->folder);
  added.add_flag("--json", command->json, "print JSON");
  added.callback([command, action] { action(*command); });
  return added;
}

}  // namespace monojit::tools
