#include <chrono>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cache/file.h"
#include "tools/commands/cache_command.h"
#include "tools/commands/commands.h"
#include "tools/entry_use.h"

namespace monojit::tools {
namespace {

using cache::StoredEntry;

constexpr std::size_t kShortDigest = 12;  // hexadecimal digits that listings show
constexpr const char* kOfAnotherRelease = " (of another release)";

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

void list(const CacheCommand& command) {
  const OpenCache cache(command);
  const std::vector<StoredEntry> all = cache.store.list(cache::Look::kHead);
  std::uint64_t total = 0;
  Json entries = Json::array();
  Table table(
      {Table::Align::kLeft, Table::Align::kLeft, Table::Align::kRight, Table::Align::kRight, Table::Align::kLeft});
  table.add({"DIGEST", "TARGET", "BYTES", "USED", "KEY"});
  for (const StoredEntry& entry : all) {
    total += entry.file_bytes;
    if (command.json) {
      entries.push_back(to_json(entry));
      continue;
    }
    const bool fine = entry.problem.empty();
    const std::string key = entry.key.text + (is_current(entry) ? "" : kOfAnotherRelease);
    table.add({cache::hex(entry.digest).substr(0, kShortDigest), fine ? entry.key.target : "?",
               std::to_string(entry.file_bytes), age_text(entry.modified), fine ? key : "unusable: " + entry.problem});
  }
  if (command.json) {
    print_json({{"folder", cache.folder_json()}, {"entries", entries}, {"total_bytes", total}});
  } else {
    if (!table.empty()) print("{}", table.text());
    print("{}, {} bytes in {}\n", count_text(all.size()), total, cache.name());
  }
  cache.check_complete();
}

void print_entry(const StoredEntry& entry) {
  using cache::printable;
  print("digest     {}\nfile       {} ({} bytes)\n", cache::hex(entry.digest), printable(entry.file.native()),
        entry.file_bytes);
  if (!entry.problem.empty()) {
    print("unusable   {}\n\n", printable(entry.problem));
    return;
  }
  print("key        {}{}\ntarget     {}\ngenerator  {}\ntoolchain  {}\nobject     {} bytes\n",
        printable(entry.key.text), is_current(entry) ? "" : kOfAnotherRelease, printable(entry.key.target),
        printable(entry.key.generator), printable(entry.key.toolchain), entry.code_bytes);
  print("record     {}\n\n", record_json(entry.metadata).dump(2, ' ', false, Json::error_handler_t::replace));
}

void show(const CacheCommand& command) {
  const OpenCache cache(command);
  const std::vector<StoredEntry> all = cache.store.list(cache::Look::kHead);
  Json list = Json::array();
  for (const std::string& name : command.entries) {
    for (StoredEntry& found : find_entries(all, name)) {
      const StoredEntry entry = verified(std::move(found), use_problem);
      Json json = to_json(entry);
      if (entry.problem.empty()) json["record"] = record_json(entry.metadata);
      list.push_back(std::move(json));
      if (!command.json) print_entry(entry);
    }
  }
  if (command.json) print_json({{"entries", list}});
}

cache::Removed remove_named(OpenCache& cache, const std::vector<std::string>& names) {
  const std::vector<StoredEntry> all = cache.store.list(cache::Look::kHead);
  std::vector<StoredEntry> doomed;
  for (const std::string& name : names) {
    for (StoredEntry& entry : find_entries(all, name)) doomed.push_back(std::move(entry));
  }
  cache::Removed removed;
  for (const StoredEntry& entry : doomed) remove_into(removed, entry, cache);
  return removed;
}

void remove(const CacheCommand& command) {
  if (command.all == !command.entries.empty()) throw UserError("cache rm takes either entries or --all");
  OpenCache cache(command);
  const cache::Removed removed = command.all ? cache.store.remove_all() : remove_named(cache, command.entries);
  report_removed(removed, cache, command.json);
}

}  // namespace

void add_cache(CLI::App& app) {
  constexpr const char* kEntries = "keys, or the first digits of digests";
  const auto command = std::make_shared<CacheCommand>();
  CLI::App& cache = *app.add_subcommand("cache", "Look after cached kernels");
  cache.require_subcommand(1);
  add_cache_command(cache, "ls", "List the entries", command, list);
  add_cache_command(cache, "show", "Show all that is known of entries", command, show)
      .add_option("ENTRY", command->entries, kEntries)
      ->required()
      ->check(not_empty());
  CLI::App& rm = add_cache_command(cache, "rm", "Remove entries", command, remove);
  rm.add_option("ENTRY", command->entries, kEntries)->check(not_empty());
  rm.add_flag("--all", command->all, "every entry");
  add_cache_care(cache, command);
  add_cache_shipping(cache, command);
}

}  // namespace monojit::tools
