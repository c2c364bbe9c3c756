#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cache/key.h"

namespace monojit::cache {

// The file of one compiled kernel. docs/cache-format.md has its layout, and how versions differ.

inline constexpr std::uint32_t kEntryVersion = 1;
/// No file larger than this is an entry, and no tier takes memory for more. The largest code objects are a few MB.
inline constexpr std::uint64_t kMaxEntryBytes = std::uint64_t{64} << 20;

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

/// As many of the first bytes of a file as decode_head() wants.
inline constexpr std::uint64_t kHeadBytes = 4096;

/// What the first bytes of an entry's file tell.
struct EntryHead {
  Key key;
  std::uint64_t code_bytes = 0;  ///< of the code object
};
using DecodedHead = std::variant<EntryHead, EntryError>;

/// Any bytes are fine: the first ones of a file of `file_bytes`. The rest is not looked at, so damage there is not
/// seen.
[[nodiscard]] DecodedHead decode_head(std::span<const std::byte> head, std::uint64_t file_bytes);

/// The same bytes for equal entries, in every build of every release with this version.
std::vector<std::byte> encode(const Entry& entry);

/// Any bytes are fine: the answer is an entry whose encode() gives them back, or why they are none.
[[nodiscard]] DecodedEntry decode(std::span<const std::byte> file);

/// As decode(), and the entry's key equals `key`.
[[nodiscard]] DecodedEntry decode_for(const Key& key, std::span<const std::byte> file);

}  // namespace monojit::cache
