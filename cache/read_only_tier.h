#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cache/archive.h"
#include "cache/entry.h"
#include "cache/inventory.h"
#include "cache/warnings.h"

namespace monojit::cache {

/// Whether `check` has nothing against an entry that a tier has under the name `name()`; what it has is said once.
bool passes(const Entry& entry, const EntryCheck& check, const std::function<std::string()>& name,
            const Warnings& warnings);

/// Folders and archives that are only looked into, as a container image ships them. What is not there or damaged is
/// said once and left out. All of it may be used from any thread.
class ReadOnlyTier {
 public:
  /// `warnings` must outlive this object.
  ReadOnlyTier(std::vector<std::filesystem::path> places, const Warnings& warnings);

  /// From the first that has it, read and verified, and that `check` has nothing against; or nullptr.
  std::shared_ptr<const Entry> lookup(const Key& key, const EntryCheck& check = {});
  /// Whether one of them has a file that begins as the key's entry (begins_as_entry), or a block of this key.
  bool contains(const Key& key);

  /// Opens the places if that was not done yet: says which of them can't be used.
  void open_once();

  /// What differs in keys of the same text and target, as "generator 12ab…, llvm-22.1.8/comgr-3.0"; sorted.
  std::vector<std::string> other_versions(const Key& key);

 private:
  /// A folder, or an archive that was opened.
  using Place = std::variant<std::filesystem::path, std::shared_ptr<const Archive>>;

  void warn_of(std::string_view entry, std::string_view why) const;
  void warn_of_unreadable(const std::filesystem::path& folder, const std::filesystem::path& file, int error) const;
  std::shared_ptr<const Entry> decoded(const Key& key, const std::string& name, std::span<const std::byte> bytes) const;
  std::shared_ptr<const Entry> look_in(const std::filesystem::path& folder, const Key& key) const;
  std::shared_ptr<const Entry> look_in(const Archive& archive, const std::string& name, const Key& key) const;

  std::vector<std::filesystem::path> paths_;
  const Warnings& warnings_;
  std::once_flag opened_;
  std::vector<std::pair<std::string, Place>> places_;
};

}  // namespace monojit::cache
