#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cache/counters.h"
#include "cache/limits.h"
#include "tools/commands/cache_command.h"
#include "tools/commands/commands.h"
#include "tools/entry_use.h"

namespace monojit::tools {
namespace {

using cache::StoredEntry;

/// What is in a folder, of one family.
struct Stock {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

/// By family; unusable entries have none. Heads are all that is read: what is damaged inside counts as the rest.
std::map<std::string, Stock> take_stock(const OpenCache& cache) {
  std::map<std::string, Stock> stock;
  for (const StoredEntry& entry : cache.store.list(cache::Look::kHead)) {
    Stock& of_family = stock[entry.problem.empty() ? entry.key.family : "unusable"];
    ++of_family.entries;
    of_family.bytes += entry.file_bytes;
  }
  return stock;
}

std::uint64_t count_of(const cache::CountTable& counts, const std::string& family, cache::Count count) {
  const auto found = counts.find(family);
  if (found == counts.end()) return 0;
  const auto value = found->second.find(cache::kCountNames[static_cast<std::size_t>(count)]);
  return value == found->second.end() ? 0 : value->second;
}

Json family_json(const std::string& family, const Stock& stock, const cache::CountTable& counts) {
  Json json = {{"family", family}, {"entries", stock.entries}, {"bytes", stock.bytes}};
  for (std::size_t i = 0; i < cache::kCountNames.size(); ++i) {
    json[cache::kCountNames[i]] = count_of(counts, family, static_cast<cache::Count>(i));
  }
  return json;
}

void print_stats(const Json& families, const OpenCache& cache) {
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kRight, Table::Align::kRight,
               Table::Align::kRight, Table::Align::kRight, Table::Align::kRight, Table::Align::kRight});
  table.add({"FAMILY", "ENTRIES", "BYTES", "HITS", "MISSES", "BUILDS", "READ", "STORED"});
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  for (const Json& json : families) {
    const auto number = [&](const char* name) { return json[name].get<std::uint64_t>(); };
    entries += number("entries");
    bytes += number("bytes");
    const std::uint64_t hits = number("disk_hits") + number("read_only_hits") + number("remote_hits");
    table.add({json["family"].get<std::string>(), std::to_string(number("entries")), std::to_string(number("bytes")),
               std::to_string(hits), std::to_string(number("misses")), std::to_string(number("builds")),
               std::to_string(number("bytes_read")), std::to_string(number("bytes_stored"))});
  }
  if (!table.empty()) print("{}", table.text());
  print("{}, {} bytes in {}; ", count_text(entries), bytes, cache.name());
  const std::uint64_t limit = cache.settings.limits.max_bytes;
  print("{}\n", limit == 0 ? "no limit" : fmt::format("the limit is {} bytes", limit));
}

void stats(const CacheCommand& command) {
  const OpenCache cache(command);
  std::map<std::string, Stock> stock = take_stock(cache);
  const cache::CountTable counts = cache::Counters::read(cache.store.folder());
  for (const auto& family : counts) stock.try_emplace(family.first);
  Json families = Json::array();
  for (const auto& [family, of_family] : stock) families.push_back(family_json(family, of_family, counts));
  if (command.json) {
    print_json({{"folder", cache.folder_json()},
                {"max_bytes", cache.settings.limits.max_bytes},
                {"max_age_s", cache.settings.limits.max_age_s},
                {"families", families}});
  } else {
    print_stats(families, cache);
  }
  if (!command.reset) return cache.check_complete();
  if (const int error = cache::Counters::reset(cache.store.folder()); error != 0) {
    throw std::runtime_error(
        fmt::format("the counters of {} can't be reset ({})", cache.name(), cache::error_text(error)));
  }
  cache.check_complete();
}

template <class Value>
Value parsed(const std::string& text, Value otherwise, std::optional<Value> (*parse)(std::string_view),
             const char* wanted) {
  if (text.empty()) return otherwise;
  const auto value = parse(text);
  if (!value) throw UserError(fmt::format("{}: not {}", text, wanted));
  return *value;
}

cache::Removed remove_stale(OpenCache& cache) {
  cache::Removed removed;
  for (const StoredEntry& entry : cache.store.list(cache::Look::kWhole, use_problem)) {
    if (!is_current(entry)) remove_into(removed, entry, cache);
  }
  removed.failed += cache.store.remove_strays();
  return removed;
}

void trim(const CacheCommand& command) {
  OpenCache cache(command);
  const bool limited = !command.max_size.empty() || !command.max_age.empty();
  const cache::Limits defaults = limited ? cache::Limits{} : cache.settings.limits;
  const cache::Limits limits{
      .max_bytes = parsed(command.max_size, defaults.max_bytes, cache::parse_size, "a size such as 500M or 10G"),
      .max_age_s = parsed(command.max_age, defaults.max_age_s, cache::parse_age, "a time such as 12h or 30d")};
  cache::Removed removed = command.stale ? remove_stale(cache) : cache::Removed{};
  const cache::Trimmed trimmed = cache.store.trim(limits);
  removed += trimmed.removed;
  if (command.json) {
    print_json({{"folder", cache.folder_json()},
                {"max_bytes", limits.max_bytes},
                {"max_age_s", limits.max_age_s},
                {"removed", removed.entries},
                {"removed_bytes", removed.bytes},
                {"failed", removed.failed},
                {"kept", trimmed.kept_entries},
                {"kept_bytes", trimmed.kept_bytes}});
  } else {
    print("removed {}, {} bytes; {}, {} bytes are left in {}\n", count_text(removed.entries), removed.bytes,
          count_text(trimmed.kept_entries), trimmed.kept_bytes, cache.name());
  }
  check_removed(removed, cache);
}

void clear(const CacheCommand& command) {
  OpenCache cache(command);
  report_removed(cache.store.remove_all(), cache, command.json);
}

/// Names what is in the place of the cache's folders and lock files; removes it where the command says so.
Json verify_strays(const CacheCommand& command, OpenCache& cache, cache::Removed& removed) {
  Json strays = Json::array();
  for (const std::filesystem::path& stray : cache.store.strays()) {
    strays.push_back(stray.string());
    if (!command.json)
      print("{} is in the place of a folder or lock file of the cache\n", cache::printable(stray.native()));
  }
  if (command.remove) removed.failed += cache.store.remove_strays();
  return strays;
}

void verify(const CacheCommand& command) {
  using cache::printable;
  OpenCache cache(command);
  const std::vector<StoredEntry> all = cache.store.list(cache::Look::kWhole, use_problem);
  Json unusable = Json::array();
  cache::Removed removed;
  for (const StoredEntry& entry : all) {
    if (entry.problem.empty()) continue;
    unusable.push_back(to_json(entry));
    if (!command.json) print("{} {}\n", printable(entry.file.native()), printable(entry.problem));
    if (command.remove) remove_into(removed, entry, cache);
  }
  const Json strays = verify_strays(command, cache, removed);
  if (command.json) {
    print_json({{"folder", cache.folder_json()},
                {"entries", all.size()},
                {"unusable", unusable},
                {"strays", strays},
                {"removed", removed.entries},
                {"failed", removed.failed}});
  } else {
    print("{} in {}: {} unusable{}\n", count_text(all.size()), cache.name(), unusable.size(),
          command.remove ? fmt::format(", {} removed", removed.entries) : "");
  }
  check_removed(removed, cache);
  if (!command.remove && (!unusable.empty() || !strays.empty())) throw Failed();
}

/// Whatever is there.
void path(const CacheCommand& command) {
  const std::filesystem::path folder = named_folder(command);
  if (!command.json) {
    print("{}\n", folder.string());
    return;
  }
  const auto settings = cache::Settings::from_environment(cache::Warnings(say));
  const std::string origin = command.folder.empty() ? cache::user_folder().origin : "--cache-dir";
  Json read_only = Json::array();
  for (const auto& each : settings.read_only) read_only.push_back(each.string());
  print_json({{"folder", folder.string()},
              {"origin", origin},
              {"read_only", read_only},
              {"remote", !settings.remote.empty()}});
}

}  // namespace

void add_cache_care(CLI::App& parent, const std::shared_ptr<CacheCommand>& command) {
  add_cache_command(parent, "stats", "Show what is in the cache, and how often it was hit, by family", command, stats)
      .add_flag("--reset", command->reset, "then count from nothing");
  CLI::App& trimming =
      add_cache_command(parent, "trim", "Remove what is over the limits, least recently used first", command, trim);
  trimming
      .add_option("--max-size", command->max_size,
                  "of all entries, such as 500M or 10G (default: MONOJIT_CACHE_MAX_SIZE, else 5G)")
      ->check(not_empty());
  trimming
      .add_option("--max-age", command->max_age,
                  "since the last use, such as 12h or 30d (default: MONOJIT_CACHE_MAX_AGE, else none)")
      ->check(not_empty());
  trimming.add_flag("--stale", command->stale, "also what this build would not look up, and what is unusable");
  add_cache_command(parent, "clear", "Remove every entry", command, clear);
  add_cache_command(parent, "verify", "Read every entry and check it", command, verify)
      .add_flag("--remove", command->remove, "remove those that are unusable");
  add_cache_command(parent, "path", "Print the folder", command, path);
}

}  // namespace monojit::tools
