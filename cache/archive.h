#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cache/digest.h"
#include "cache/file.h"
#include "cache/key.h"

namespace monojit::cache {

// Many entries in one file, each found without reading the others. Numbers are little-endian.
//
//   archive  = magic version block* manifest footer
//   magic    = 89 'M' 'P' 'A' 'K' 0D 0A 1A
//   version  = u32                                kArchiveVersion
//   block    = a zstd frame                       of one entry file's bytes (cache/entry.h)
//   manifest = a zstd frame                       of u64 count, then as many items, in the order of their digests
//   item     = key offset stored size             seven blobs; u64 each: where the block is, its bytes, the entry's
//                                                 bytes
//   footer   = offset stored size checksum        u64 each, of the manifest; 32 bytes: BLAKE3 of magic, version,
//                                                 the manifest's frame and the three numbers
inline constexpr std::uint32_t kArchiveVersion = 1;

/// Of a file's beginning, what archive_head_problem() looks at.
inline constexpr std::size_t kArchiveHeadBytes = 16;

/// Why what begins with these bytes is no archive that this release reads, to go after its name; empty: it may be one.
std::string archive_head_problem(std::span<const std::byte> head);

struct ArchiveItem {
  Digest digest;
  Key key;
  std::uint64_t offset = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t entry_bytes = 0;
};

/// An archive that is read in place. All of it may be used from any thread.
class Archive {
 public:
  /// The archive, or why the file is none, to go after its name.
  static std::variant<std::shared_ptr<const Archive>, std::string> open(const std::filesystem::path& file);

  const std::vector<ArchiveItem>& items() const { return items_; }
  const ArchiveItem* find(const Digest& digest) const;
  /// The entry file's bytes, or why they can't be had. Not verified: that is decode()'s.
  std::variant<std::vector<std::byte>, std::string> read(const ArchiveItem& item) const;

 private:
  Archive() = default;

  Descriptor descriptor_;
  std::vector<ArchiveItem> items_;
};

/// An entry to be packed.
struct PackedEntry {
  Key key;
  std::vector<std::byte> bytes;  ///< of its file
};

/// The bytes of an archive's file: the same for the same entries. Throws std::runtime_error when they are too many.
std::vector<std::byte> encode_archive(const std::vector<PackedEntry>& entries);

}  // namespace monojit::cache
