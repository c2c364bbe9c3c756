#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache/archive.h"
#include "cache/entry.h"
#include "cache/file.h"
#include "environment/variables.h"
#include "tools/commands/cache_command.h"
#include "tools/commands/commands.h"
#include "tools/output_file.h"

namespace monojit::tools {
namespace {

using cache::StoredEntry;

constexpr const char* kStandardStream = "-";
/// Of an archive that comes through a pipe: many times what the default limit of a folder packs into.
constexpr std::uint64_t kMostInputBytes = std::uint64_t{4} << 30;

/// The entries that a command names, by their heads; with --all, every one.
std::vector<StoredEntry> chosen(const CacheCommand& command, const OpenCache& cache) {
  if (command.all == !command.entries.empty()) throw UserError("cache pack takes either entries or --all");
  std::vector<StoredEntry> all = cache.store.list(cache::Look::kHead);
  if (command.all) return all;
  std::vector<StoredEntry> found;
  for (const std::string& name : command.entries) std::ranges::move(find_entries(all, name), std::back_inserter(found));
  std::ranges::sort(found, {}, &StoredEntry::digest);
  const auto repeated = std::ranges::unique(found, {}, &StoredEntry::digest);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

/// The file of a sound entry. With --all, an unusable one is said and left out; one that was named is refused.
std::optional<cache::PackedEntry> packed(const StoredEntry& entry, bool all) {
  cache::FileBytes read = cache::read_file(entry.file, cache::kMaxEntryBytes);
  if (all && cache::is_missing(read.error)) return std::nullopt;  // removed since it was listed
  std::string problem = entry.problem.empty() ? read.problem() : entry.problem;
  if (problem.empty()) {
    const auto decoded = cache::decode_for(entry.key, read.bytes);
    const auto* error = std::get_if<cache::EntryError>(&decoded);
    if (error == nullptr) return cache::PackedEntry{entry.key, std::move(read.bytes)};
    problem = error->text;
  }
  if (!all) throw UserError(fmt::format("{} {}", entry.file.string(), problem));
  say(fmt::format("{} {}: left out", entry.file.string(), problem));
  return std::nullopt;
}

Json to_json(const cache::ArchiveItem& item) {
  return {{"digest", cache::hex(item.digest)}, {"key", item.key.text},
          {"target", item.key.target},         {"generator", item.key.generator},
          {"toolchain", item.key.toolchain},   {"entry_bytes", item.entry_bytes},
          {"stored_bytes", item.stored_bytes}};
}

[[noreturn]] void refuse_input(std::string_view problem) { throw UserError(fmt::format("standard input {}", problem)); }

/// The next of stdin: as many bytes as there is room for, less only at its end.
std::span<const std::byte> next_input(std::span<std::byte> bytes) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = read(STDIN_FILENO, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_input(fmt::format("can't be read ({})", cache::error_text(errno)));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return bytes.first(filled);
}

/// All of stdin as a file, since an archive is read from its end. It takes memory: what is no archive is refused
/// before more of it comes.
cache::Descriptor standard_input() {
  if (isatty(STDIN_FILENO) == 1) throw UserError("cache unpack -: no archive comes from a terminal (name a file)");
  cache::Descriptor file(memfd_create("monojit-archive", MFD_CLOEXEC));
  if (!file.valid()) refuse_input(fmt::format("can't be kept ({})", cache::error_text(errno)));
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  std::span<const std::byte> part = next_input(std::span(buffer).first(cache::kArchiveHeadBytes));
  if (const std::string problem = cache::archive_head_problem(part); !problem.empty()) refuse_input(problem);
  for (std::uint64_t size = 0; !part.empty(); part = next_input(buffer)) {
    size += part.size();
    if (size > kMostInputBytes) {
      refuse_input(
          fmt::format("has more than {} GiB: name a file, which is not kept in memory", kMostInputBytes >> 30));
    }
    if (const int error = cache::write_all(file.get(), part); error != 0) {
      refuse_input(fmt::format("can't be kept ({})", cache::error_text(error)));
    }
  }
  return file;
}

std::shared_ptr<const cache::Archive> open_archive(const std::string& file) {
  const cache::Descriptor input = file == kStandardStream ? standard_input() : cache::Descriptor();
  auto archive = cache::Archive::open(input.valid() ? fmt::format("/proc/self/fd/{}", input.get()) : file);
  if (const auto* problem = std::get_if<std::string>(&archive)) {
    throw UserError(fmt::format("{} {}", input.valid() ? "standard input" : file, *problem));
  }
  return std::get<std::shared_ptr<const cache::Archive>>(std::move(archive));
}

/// Whether the archive is to go to stdout, as tar has it. Refuses what would spoil a terminal, or the archive.
bool packs_to_stdout(const CacheCommand& command) {
  if (command.archive != kStandardStream) return false;
  if (isatty(STDOUT_FILENO) == 1) {
    throw UserError("cache pack -: an archive is not for a terminal (name a file, or let it go into a pipe or file)");
  }
  if (command.json) throw UserError("cache pack -: stdout has the archive, there is no place for --json");
  return true;
}

void put_archive(const std::vector<std::byte>& bytes, std::size_t entries) {
  put(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!finish_output().empty()) throw Failed();  // which is told in the end
  say(fmt::format("packed {}, {} bytes", count_text(entries), bytes.size()));
}

void pack(const CacheCommand& command) {
  const OpenCache cache(command);
  const bool to_stdout = packs_to_stdout(command);
  if (!to_stdout) check_output_file(command.archive);
  std::vector<cache::PackedEntry> entries;
  for (const StoredEntry& entry : chosen(command, cache)) {
    if (auto each = packed(entry, command.all)) entries.push_back(*std::move(each));
  }
  cache.check_complete();
  if (entries.empty()) throw UserError(fmt::format("{} has no usable entry: nothing is packed", cache.name()));
  const std::vector<std::byte> packed_bytes = cache::encode_archive(entries);
  if (to_stdout) return put_archive(packed_bytes, entries.size());
  const std::span<const std::byte> parts[] = {packed_bytes};
  replace_file(command.archive, parts);
  const auto archive = open_archive(command.archive);
  Json list = Json::array();
  for (const cache::ArchiveItem& item : archive->items()) list.push_back(to_json(item));
  if (command.json) {
    print_json({{"archive", command.archive}, {"bytes", packed_bytes.size()}, {"entries", list}});
  } else {
    print("packed {} into {}, {} bytes\n", count_text(archive->items().size()), cache::printable(command.archive),
          packed_bytes.size());
  }
}

/// Whether an item was stored. Says why it is no sound entry; the store says once what is wrong with the folder.
bool unpack_item(const cache::Archive& archive, const cache::ArchiveItem& item, OpenCache& cache,
                 const std::string& name) {
  auto bytes = archive.read(item);
  std::string problem;
  if (auto* text = std::get_if<std::string>(&bytes)) {
    problem = std::move(*text);
  } else {
    const auto& entry = std::get<std::vector<std::byte>>(bytes);
    const auto decoded = cache::decode_for(item.key, entry);
    const auto* error = std::get_if<cache::EntryError>(&decoded);
    if (error == nullptr) return cache.store.store(item.digest, entry);
    problem = error->text;
  }
  say(fmt::format("{} in {} {}", cache::hex(item.digest), name, problem));
  return false;
}

/// What is stored beyond the limit would be gone again after the next build, without a word.
void warn_of_limit(const OpenCache& cache) {
  const std::uint64_t most = cache.settings.limits.max_bytes;
  if (most == 0) return;
  std::uint64_t bytes = 0;
  for (const cache::EntryFile& file : cache.store.inventory().files) bytes += file.bytes;
  if (bytes <= most) return;
  say(
      fmt::format("{} now has {} bytes, more than the {} that {} allows it: later builds remove what was used "
                  "least recently (set it higher, or to 0 for no limit)",
                  cache.name(), bytes, most, environment::name(environment::Id::kCacheMaxSize)));
}

void unpack(const CacheCommand& command) {
  const auto archive = open_archive(command.archive);
  Json list = Json::array();
  std::size_t stored = 0;
  std::size_t failed = 0;
  std::optional<OpenCache> cache;
  if (!command.list) cache.emplace(command);
  for (const cache::ArchiveItem& item : archive->items()) {
    list.push_back(to_json(item));
    if (command.list) {
      if (!command.json)
        print("{}  {} for {}\n", cache::hex(item.digest), cache::printable(item.key.text),
              cache::printable(item.key.target));
    } else {
      ++(unpack_item(*archive, item, *cache, command.archive) ? stored : failed);
    }
  }
  if (stored != 0) warn_of_limit(*cache);
  if (command.json) {
    print_json({{"archive", command.archive},
                {"folder", cache ? cache->folder_json() : Json(nullptr)},
                {"entries", list},
                {"stored", stored},
                {"failed", failed}});
  } else if (cache) {
    print("unpacked {} into {}\n", count_text(stored), cache->name());
  }
  if (failed != 0) throw Failed();
}

}  // namespace

void add_cache_shipping(CLI::App& parent, const std::shared_ptr<CacheCommand>& command) {
  CLI::App& packing = add_cache_command(parent, "pack", "Write entries into one archive", command, pack);
  packing.add_option("OUT", command->archive, "the archive; - is standard output")->required()->check(not_empty());
  packing.add_option("ENTRY", command->entries, "keys, or the first digits of digests")->check(not_empty());
  packing.add_flag("--all", command->all, "every usable entry");
  CLI::App& unpacking = add_cache_command(parent, "unpack", "Store the entries of an archive", command, unpack);
  unpacking.add_option("ARCHIVE", command->archive, "what cache pack wrote; - is standard input")
      ->required()
      ->check(not_empty());
  unpacking.add_flag("--list", command->list, "show what is in it and store nothing");
}

}  // namespace monojit::tools
