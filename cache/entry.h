#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cache/key.h"

namespace monojit::cache {

// The file of one compiled kernel. Numbers are little-endian, nothing is aligned, nothing may follow the checksum.
//
//   entry       = magic version size key metadata code-object checksum
//   magic       = 89 'M' 'O' 'N' 'O' 0D 0A 1A     ; as PNG's: a transfer that alters line ends or the high bit shows at
//   once version     = u32                             ; kEntryVersion size        = u64                             ;
//   bytes of the whole file key         = family text bytes target options generator toolchain       ; cache/key.h,
//   each a blob metadata    = blob                            ; JSON text, opaque here code-object = blob ; an ELF file
//   checksum    = 32 bytes                        ; BLAKE3 of every byte before it
//   blob        = u64 length, then as many bytes
//
// magic, version and size keep their places in every version. The digest of the key gives the file its name; its prefix
// changes with the version, so releases of different versions share a folder and never a file.
//
// Versions
//   1  the first

inline constexpr std::uint32_t kEntryVersion = 1;
/// No file larger than this is an entry. 1 GiB; the largest code objects are a few MB.
inline constexpr std::uint64_t kMaxEntryBytes = std::uint64_t{1} << 30;

/// One compiled kernel. Immutable once it is shared.
struct Entry {
  Key key;
  std::string metadata;
  std::vector<std::byte> code_object;

  bool operator==(const Entry&) const = default;
};

enum class EntryFault : std::uint8_t {
  kNotAFile,      ///< a link, a folder, a device, or too large
  kTruncated,     ///< fewer bytes than the header promises, or than a header has
  kWrongMagic,    ///< something else
  kWrongVersion,  ///< another release's format
  kTrailing,      ///< more bytes than the header promises
  kChecksum,      ///< damaged
  kMalformed,     ///< a right checksum over what is no entry
  kOtherKey,      ///< an entry, but not of the key that was asked for
};

struct EntryError {
  EntryFault fault;
  std::string text;  ///< goes after a file's name and a colon
};

using DecodedEntry = std::variant<Entry, EntryError>;

/// What the file of any entry of `key` with `size` bytes begins with.
std::vector<std::byte> entry_head(const Key& key, std::uint64_t size);

/// The key in the first bytes of an entry's file, as far as they reach: nothing else is looked at, nor verified.
std::optional<Key> peek_key(std::span<const std::byte> head);

/// The same bytes for equal entries, in every build of every release with this version.
std::vector<std::byte> encode(const Entry& entry);

/// Any bytes are fine: the answer is an entry whose encode() gives them back, or why they are none.
[[nodiscard]] DecodedEntry decode(std::span<const std::byte> file);

/// As decode(), and the entry's key equals `key`.
[[nodiscard]] DecodedEntry decode_for(const Key& key, std::span<const std::byte> file);

}  // namespace monojit::cache
