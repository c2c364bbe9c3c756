#include "cache/read_only_tier.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cache/file.h"
#include "cache/inventory.h"
#include "cache/other_versions.h"
#include "cache/strays.h"

namespace monojit::cache {

bool passes(const Entry& entry, const EntryCheck& check, const std::function<std::string()>& name,
            const Warnings& warnings) {
  const std::string problem = check ? check(entry) : std::string();
  if (problem.empty()) return true;
  const std::string text = fmt::format("cache entry {} {}: it is not used", name(), problem);
  warnings.once(text, text);
  return false;
}

ReadOnlyTier::ReadOnlyTier(std::vector<std::filesystem::path> places, const Warnings& warnings)
    : paths_(std::move(places)), warnings_(warnings) {}

void ReadOnlyTier::open_once() {
  std::call_once(opened_, [&] {
    for (const std::filesystem::path& path : paths_) {
      std::string name = printable(path.native());
      std::error_code error;
      if (std::filesystem::is_directory(path, error)) {
        places_.emplace_back(std::move(name), path);
        continue;
      }
      auto archive = Archive::open(path);
      if (auto* opened = std::get_if<std::shared_ptr<const Archive>>(&archive)) {
        places_.emplace_back(std::move(name), std::move(*opened));
      } else {
        warnings_.once("read-only " + path.native(),
                       fmt::format("read-only cache {} {}: it is not used", name, std::get<std::string>(archive)));
      }
    }
  });
}

std::shared_ptr<const Entry> ReadOnlyTier::lookup(const Key& key, const EntryCheck& check) {
  open_once();
  for (const auto& [name, place] : places_) {
    std::shared_ptr<const Entry> entry;
    if (const auto* folder = std::get_if<std::filesystem::path>(&place)) {
      entry = look_in(*folder, key);
    } else {
      entry = look_in(*std::get<std::shared_ptr<const Archive>>(place), name, key);
    }
    const auto full_name = [&] { return fmt::format("{} in {}", hex(key.digest()), name); };
    if (entry && passes(*entry, check, full_name, warnings_)) return entry;
  }
  return nullptr;
}

bool ReadOnlyTier::contains(const Key& key) {
  open_once();
  const Digest digest = key.digest();
  return std::ranges::any_of(places_, [&](const auto& named) {
    const auto* folder = std::get_if<std::filesystem::path>(&named.second);
    if (folder == nullptr) return std::get<std::shared_ptr<const Archive>>(named.second)->find(digest) != nullptr;
    return begins_as_entry(*folder / kEntriesFolder / entry_name(digest), key);
  });
}

std::shared_ptr<const Entry> ReadOnlyTier::decoded(const Key& key, const std::string& name,
                                                   std::span<const std::byte> bytes) const {
  DecodedEntry result = decode_for(key, bytes);
  if (auto* entry = std::get_if<Entry>(&result)) return std::make_shared<const Entry>(std::move(*entry));
  warn_of(name, std::get<EntryError>(result).text);
  return nullptr;
}

void ReadOnlyTier::warn_of(std::string_view entry, std::string_view why) const {
  const std::string text = fmt::format("cache entry {} {}: it is not used", entry, why);
  warnings_.once(text, text);
}

/// One line a folder, however many keys are asked for.
void ReadOnlyTier::warn_of_unreadable(const std::filesystem::path& folder, const std::filesystem::path& file,
                                      int error) const {
  std::filesystem::path culprit = file;
  for (const auto& part : {file.parent_path(), folder / kEntriesFolder, folder}) {
    if (is_in_folders_place(part) || ::access(part.c_str(), X_OK) != 0) culprit = part;
  }
  warnings_.once(
      fmt::format("read-only {} {}", folder.native(), error),
      fmt::format("read-only cache {} can't be used: {} {}", printable(folder.native()), printable(culprit.native()),
                  error == ENOTDIR ? "is no folder"
                                   : fmt::format("can't be read ({}; may this user read it?)", error_text(error))));
}

std::shared_ptr<const Entry> ReadOnlyTier::look_in(const std::filesystem::path& folder, const Key& key) const {
  const auto file = folder / kEntriesFolder / entry_name(key.digest());
  const FileBytes read = read_file(file, kMaxEntryBytes);
  if (read.error == 0) return decoded(key, printable(file.native()), read.bytes);
  if (read.error == ENOENT) return nullptr;
  if (read.refusal.empty()) {
    warn_of_unreadable(folder, file, read.error);
  } else {
    warn_of(printable(file.native()), read.refusal);
  }
  return nullptr;
}

std::shared_ptr<const Entry> ReadOnlyTier::look_in(const Archive& archive, const std::string& name,
                                                   const Key& key) const {
  const ArchiveItem* const item = archive.find(key.digest());
  if (item == nullptr) return nullptr;
  const auto bytes = archive.read(*item);
  const std::string block = fmt::format("{} in {}", hex(item->digest), name);
  if (const auto* read = std::get_if<std::vector<std::byte>>(&bytes)) return decoded(key, block, *read);
  warn_of(block, std::get<std::string>(bytes));
  return nullptr;
}

std::vector<std::string> ReadOnlyTier::other_versions(const Key& key) {
  open_once();
  std::vector<std::string> versions;
  for (const auto& [name, place] : places_) {
    if (const auto* folder = std::get_if<std::filesystem::path>(&place)) {
      for (const Key& found : peek_keys(*folder)) add_other_version(key, found, versions);
    } else {
      for (const ArchiveItem& item : std::get<std::shared_ptr<const Archive>>(place)->items())
        add_other_version(key, item.key, versions);
    }
  }
  return versions;
}

}  // namespace monojit::cache
