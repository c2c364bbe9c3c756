#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cache/disk_store.h"
#include "tools/commands/commands.h"
#include "tools/report.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using cache::StoredEntry;

constexpr std::size_t kShortDigest = 12;  // hexadecimal digits that listings show

struct Options {
  std::string folder;
  std::vector<std::string> entries;
  bool all = false;
  bool json = false;
};

/// The cache folder of the options, and what is in it.
struct OpenCache {
  explicit OpenCache(const Options& options)
      : warnings(say), store(folder_of(options), warnings), entries(store.list()) {}

  static std::filesystem::path folder_of(const Options& options) {
    std::filesystem::path folder = cache_folder(options.folder);
    if (folder.empty()) throw UserError("there is no cache folder (set MONOJIT_CACHE_DIR, or use --cache-dir)");
    std::error_code error;
    if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error)) {
      const std::string text =
          fmt::format("cache folder {} is a file (set MONOJIT_CACHE_DIR to a folder)", folder.string());
      throw UserError(cache_advice(text, options.folder));
    }
    return folder;
  }

  cache::Warnings warnings;
  cache::DiskStore store;
  std::vector<StoredEntry> entries;
};

std::string count_text(std::size_t entries) {
  return fmt::format("{} {}", entries, entries == 1 ? "entry" : "entries");
}

std::string age_text(std::int64_t modified) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::int64_t age = now.count() - modified;
  if (age < kMinute) return "now";
  if (age < kHour) return fmt::format("{} min", age / kMinute);
  if (age < kDay) return fmt::format("{} h", age / kHour);
  return fmt::format("{} d", age / kDay);
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
  json["object_bytes"] = entry.code_bytes;
  return json;
}

void list(const Options& options) {
  const OpenCache cache(options);
  std::uint64_t total = 0;
  Json entries = Json::array();
  Table table(
      {Table::Align::kLeft, Table::Align::kLeft, Table::Align::kRight, Table::Align::kRight, Table::Align::kLeft});
  table.add({"DIGEST", "TARGET", "BYTES", "AGE", "KEY"});
  for (const StoredEntry& entry : cache.entries) {
    total += entry.file_bytes;
    entries.push_back(to_json(entry));
    const bool fine = entry.problem.empty();
    table.add({cache::hex(entry.digest).substr(0, kShortDigest), fine ? entry.key.target : "?",
               std::to_string(entry.file_bytes), age_text(entry.modified),
               fine ? entry.key.text : "unusable: " + entry.problem});
  }
  if (options.json) {
    print_json({{"folder", cache.store.folder().string()}, {"entries", entries}, {"total_bytes", total}});
    return;
  }
  if (!table.empty()) print("{}", table.text());
  print("{}, {} bytes in {}\n", count_text(cache.entries.size()), total, cache.store.folder().string());
}

/// The entries that `name` means: one by the start of its digest, or all of a key.
std::vector<StoredEntry> find(const OpenCache& cache, const std::string& name) {
  std::string text;
  const bool is_digest = name.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  const std::string digits = is_digest ? CLI::detail::to_lower(name) : "";
  if (!is_digest) text = kernels::BuildKey::parse(name).text();
  std::vector<StoredEntry> found;
  std::ranges::copy_if(cache.entries, std::back_inserter(found), [&](const StoredEntry& entry) {
    return is_digest ? cache::hex(entry.digest).starts_with(digits) : entry.key.text == text;
  });
  if (found.empty()) throw UserError(fmt::format("{}: not in the cache {}", name, cache.store.folder().string()));
  if (is_digest && found.size() > 1)
    throw UserError(fmt::format("{}: {} entries begin with this; give more digits", name, found.size()));
  return found;
}

void print_entry(const StoredEntry& entry) {
  print("digest     {}\nfile       {} ({} bytes)\n", cache::hex(entry.digest), entry.file.string(), entry.file_bytes);
  if (!entry.problem.empty()) {
    print("unusable   {}\n\n", entry.problem);
    return;
  }
  print("key        {}\ntarget     {}\ngenerator  {}\ntoolchain  {}\nobject     {} bytes\n", entry.key.text,
        entry.key.target, entry.key.generator, entry.key.toolchain, entry.code_bytes);
  const Json record = Json::parse(entry.metadata, nullptr, false);
  print("record     {}\n\n", record.dump(2, ' ', false, Json::error_handler_t::replace));
}

void show(const Options& options) {
  const OpenCache cache(options);
  Json list = Json::array();
  for (const std::string& name : options.entries) {
    for (const StoredEntry& entry : find(cache, name)) {
      Json json = to_json(entry);
      if (entry.problem.empty()) json["record"] = Json::parse(entry.metadata, nullptr, false);
      list.push_back(std::move(json));
      if (!options.json) print_entry(entry);
    }
  }
  if (options.json) print_json({{"entries", list}});
}

cache::Removed remove_named(OpenCache& cache, const std::vector<std::string>& names) {
  std::vector<StoredEntry> doomed;
  for (const std::string& name : names) {
    for (StoredEntry& entry : find(cache, name)) doomed.push_back(std::move(entry));
  }
  cache::Removed removed;
  for (const StoredEntry& entry : doomed) {
    if (cache.store.remove(entry.digest)) {
      ++removed.entries;
      removed.bytes += entry.file_bytes;
    } else if (std::error_code error; std::filesystem::exists(entry.file, error)) {
      ++removed.failed;
    }
  }
  return removed;
}

void remove(const Options& options) {
  if (options.all == !options.entries.empty()) throw UserError("cache rm takes either entries or --all");
  OpenCache cache(options);
  const cache::Removed removed = options.all ? cache.store.remove_all() : remove_named(cache, options.entries);
  if (options.json) {
    print_json({{"folder", cache.store.folder().string()},
                {"removed", removed.entries},
                {"removed_bytes", removed.bytes},
                {"failed", removed.failed}});
  } else {
    print("removed {}, {} bytes, from {}\n", count_text(removed.entries), removed.bytes, cache.store.folder().string());
  }
  if (removed.failed == 0) return;
  say(fmt::format("{} could not be removed: may this user write to {}?", count_text(removed.failed),
                  cache.store.folder().string()));
  throw Failed();
}

CLI::App& add(CLI::App& parent, const char* name, const char* description, const std::shared_ptr<Options>& options,
              void (*action)(const Options&)) {
  CLI::App& command = *parent.add_subcommand(name, description);
  add_cache_folder_flag(command, options->folder);
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options, action] { action(*options); });
  return command;
}

}  // namespace

void add_cache(CLI::App& app) {
  constexpr const char* kEntries = "keys, or the first digits of digests";
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("cache", "List, show or remove cached kernels");
  command.require_subcommand(1);
  add(command, "ls", "List the entries", options, list);
  add(command, "show", "Show all that is known of entries", options, show)
      .add_option("ENTRY", options->entries, kEntries)
      ->required()
      ->check(not_empty());
  CLI::App& rm = add(command, "rm", "Remove entries", options, remove);
  rm.add_option("ENTRY", options->entries, kEntries)->check(not_empty());
  rm.add_flag("--all", options->all, "every entry");
}

}  // namespace monojit::tools
