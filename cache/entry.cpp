#include "cache/entry.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cache/bytes.h"
#include "cache/digest.h"

namespace monojit::cache {
namespace {

constexpr std::array<std::byte, 8> kMagic = {std::byte{0x89}, std::byte{'M'},  std::byte{'O'},  std::byte{'N'},
                                             std::byte{'O'},  std::byte{0x0D}, std::byte{0x0A}, std::byte{0x1A}};
constexpr std::size_t kHeaderBytes = kMagic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t kSmallestEntry = kHeaderBytes + sizeof(Digest);
constexpr std::size_t kBlobs = 9;

std::size_t encoded_size(const Entry& entry) {
  const Key& key = entry.key;
  return kSmallestEntry + kBlobs * sizeof(std::uint64_t) + key.family.size() + key.text.size() + key.bytes.size() +
         key.target.size() + key.options.size() + key.generator.size() + key.toolchain.size() + entry.metadata.size() +
         entry.code_object.size();
}

void write_head(ByteWriter& writer, const Key& key, std::uint64_t size) {
  writer.raw(kMagic);
  writer.u32(kEntryVersion);
  writer.u64(size);
  write_key(writer, key);
}

/// `head` may be the whole file.
std::optional<EntryError> header_fault(std::span<const std::byte> head, std::uint64_t file_bytes) {
  const std::size_t compared = std::min(head.size(), kMagic.size());
  if (!std::ranges::equal(head.first(compared), std::span(kMagic).first(compared))) {
    return EntryError{EntryFault::kWrongMagic, "is not a cache entry (wrong first bytes)"};
  }
  if (head.size() < kHeaderBytes) {
    return EntryError{EntryFault::kTruncated, fmt::format("is truncated: {} bytes, less than a header", head.size())};
  }
  ByteReader reader(head.subspan(kMagic.size()));
  const std::uint32_t version = reader.u32();
  if (version != kEntryVersion) {
    return EntryError{EntryFault::kWrongVersion,
                      fmt::format("has format version {}, this release reads version {}", version, kEntryVersion)};
  }
  const std::uint64_t size = reader.u64();
  if (file_bytes < size) {
    return EntryError{EntryFault::kTruncated, fmt::format("is truncated: {} of {} bytes", file_bytes, size)};
  }
  if (file_bytes > size) {
    return EntryError{EntryFault::kTrailing, fmt::format("has {} bytes after its end", file_bytes - size)};
  }
  return std::nullopt;
}

EntryError malformed() { return {EntryFault::kMalformed, "is malformed: the lengths of its parts do not add up"}; }

}  // namespace

std::vector<std::byte> entry_head(const Key& key, std::uint64_t size) {
  ByteWriter writer;
  write_head(writer, key, size);
  return writer.take();
}

DecodedHead decode_head(std::span<const std::byte> head, std::uint64_t file_bytes) {
  if (auto fault = header_fault(head, file_bytes)) return *std::move(fault);
  ByteReader reader(head.subspan(kHeaderBytes));
  EntryHead found;
  found.key = read_key(reader);
  const std::uint64_t metadata = reader.u64();
  const std::uint64_t others = head.size() - reader.remaining() + sizeof(std::uint64_t) + sizeof(Digest);
  if (reader.failed() || file_bytes < others || file_bytes - others < metadata) return malformed();
  found.code_bytes = file_bytes - others - metadata;
  return found;
}

std::vector<std::byte> encode(const Entry& entry) {
  const std::size_t size = encoded_size(entry);
  ByteWriter writer;
  writer.reserve(size);
  write_head(writer, entry.key, size);
  writer.blob(entry.metadata);
  writer.blob(entry.code_object);
  writer.raw(digest_of(writer.bytes()));
  return writer.take();
}

DecodedEntry decode(std::span<const std::byte> file) {
  if (auto fault = header_fault(file, file.size())) return *std::move(fault);
  if (file.size() < kSmallestEntry) {
    return EntryError{EntryFault::kMalformed, "is malformed: too short to hold a checksum"};
  }
  const auto body = file.first(file.size() - sizeof(Digest));
  if (!std::ranges::equal(digest_of(body), file.subspan(body.size()))) {
    return EntryError{EntryFault::kChecksum, "is damaged: its checksum does not match"};
  }
  ByteReader reader(body.subspan(kHeaderBytes));
  Entry entry;
  entry.key = read_key(reader);
  entry.metadata = reader.text();
  const auto code_object = reader.blob();
  if (reader.failed() || reader.remaining() != 0) return malformed();
  entry.code_object.assign(code_object.data(), code_object.data() + code_object.size());
  return entry;
}

DecodedEntry decode_for(const Key& key, std::span<const std::byte> file) {
  DecodedEntry decoded = decode(file);
  if (const auto* entry = std::get_if<Entry>(&decoded); entry != nullptr && entry->key != key) {
    return EntryError{EntryFault::kOtherKey, fmt::format("holds another key, {}", describe(entry->key))};
  }
  return decoded;
}

}  // namespace monojit::cache
