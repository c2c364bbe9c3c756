#include "cache/archive.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cache/bytes.h"
#include "cache/entry.h"

namespace monojit::cache {
namespace {

constexpr std::array<std::byte, 8> kMagic = {std::byte{0x89}, std::byte{'M'},  std::byte{'P'},  std::byte{'A'},
                                             std::byte{'K'},  std::byte{0x0D}, std::byte{0x0A}, std::byte{0x1A}};
constexpr std::size_t kHeaderBytes = kMagic.size() + sizeof(std::uint32_t);
constexpr std::size_t kFooterBytes = 3 * sizeof(std::uint64_t) + sizeof(Digest);
/// Of a manifest: half a million kernels have less.
constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{1} << 28;
/// Of a block: it holds an entry's checksum, which nothing compresses.
constexpr std::uint64_t kMinBlockBytes = sizeof(Digest);
/// Of a manifest's item: an entry's key is within its file's head.
constexpr std::uint64_t kMaxItemBytes = kHeadBytes;
constexpr int kLevel = 12;

using Bytes = std::vector<std::byte>;
using BytesOrProblem = std::variant<Bytes, std::string>;

/// Sizes come from the file: one that this process has no memory for must not end it.
BytesOrProblem allocated(std::uint64_t size) {
  try {
    return Bytes(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    return fmt::format("has a part of {} bytes, more than there is memory for", size);
  }
}

/// A frame of `size` bytes has no more than this.
bool fits(std::uint64_t stored, std::uint64_t size) {
  return stored <= ZSTD_compressBound(static_cast<std::size_t>(size));
}

BytesOrProblem read_at(int descriptor, std::uint64_t offset, std::uint64_t size) {
  BytesOrProblem result = allocated(size);
  if (std::holds_alternative<std::string>(result)) return result;
  auto& bytes = std::get<Bytes>(result);
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const auto count =
        ::pread(descriptor, bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(offset + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fmt::format("can't be read ({})", error_text(errno));
    if (count == 0) return "is truncated";
    filled += static_cast<std::size_t>(count);
  }
  return result;
}

BytesOrProblem unpacked(std::span<const std::byte> frame, std::uint64_t size) {
  BytesOrProblem result = allocated(size);
  if (std::holds_alternative<std::string>(result)) return result;
  auto& bytes = std::get<Bytes>(result);
  const std::size_t got = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0U || got != bytes.size()) return "is damaged: a part can't be decompressed";
  return result;
}

Bytes packed(std::span<const std::byte> bytes) {
  Bytes frame(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0U) throw std::runtime_error(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  frame.resize(size);
  return frame;
}

Bytes header() {
  ByteWriter writer;
  writer.raw(kMagic);
  writer.u32(kArchiveVersion);
  return writer.take();
}

struct Footer {
  std::uint64_t offset = 0;
  std::uint64_t stored = 0;
  std::uint64_t size = 0;
};

/// What the checksum covers besides the frame itself.
Digest checksum(std::span<const std::byte> frame, const Footer& footer) {
  ByteWriter writer;
  writer.raw(header());
  writer.raw(frame);
  writer.u64(footer.offset);
  writer.u64(footer.stored);
  writer.u64(footer.size);
  return digest_of(writer.bytes());
}

/// How many blocks a file has room for in front of its manifest.
std::uint64_t most_items(std::uint64_t end) { return (end - kHeaderBytes) / kMinBlockBytes; }

/// The items of a manifest, or none when it is malformed. `end`: where the blocks end.
std::optional<std::vector<ArchiveItem>> parse_items(std::span<const std::byte> manifest, std::uint64_t end) {
  ByteReader reader(manifest);
  const std::uint64_t count = reader.u64();
  if (count > most_items(end)) return {};
  std::vector<ArchiveItem> items;
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    ArchiveItem item;
    item.key = read_key(reader);
    item.offset = reader.u64();
    item.stored_bytes = reader.u64();
    item.entry_bytes = reader.u64();
    if (item.offset > end || item.stored_bytes > end - item.offset || item.entry_bytes > kMaxEntryBytes) return {};
    if (!fits(item.stored_bytes, item.entry_bytes)) return {};
    item.digest = item.key.digest();
    if (!items.empty() && !(items.back().digest < item.digest)) return {};
    items.push_back(std::move(item));
  }
  if (reader.failed() || reader.remaining() != 0) return {};
  return items;
}

std::variant<std::vector<ArchiveItem>, std::string> items_of(std::span<const std::byte> frame, const Footer& footer) {
  constexpr const char* kMalformed = "is malformed: its manifest does not add up";
  if (footer.size > sizeof(std::uint64_t) + most_items(footer.offset) * kMaxItemBytes) return kMalformed;
  const BytesOrProblem manifest = unpacked(frame, footer.size);
  if (const auto* problem = std::get_if<std::string>(&manifest)) return *problem;
  try {
    if (auto items = parse_items(std::get<Bytes>(manifest), footer.offset)) return *std::move(items);
  } catch (const std::bad_alloc&) {
    return fmt::format("has a manifest of {} bytes, more than there is memory for", footer.size);
  }
  return kMalformed;
}

std::string header_problem(std::span<const std::byte> head) {
  const std::span<const std::byte> magic = head.first(std::min(head.size(), kMagic.size()));
  if (!std::ranges::equal(magic, std::span(kMagic).first(magic.size()))) {
    return "is no archive of kernels (wrong first bytes)";
  }
  ByteReader reader(head.subspan(magic.size()));
  const std::uint32_t version = reader.u32();
  if (reader.failed()) return "is truncated";
  if (version == kArchiveVersion) return "";
  return fmt::format("has archive version {}, this release reads version {}", version, kArchiveVersion);
}

std::variant<std::vector<ArchiveItem>, std::string> read_manifest(int descriptor, std::uint64_t file_bytes) {
  const BytesOrProblem head = read_at(descriptor, 0, std::min<std::uint64_t>(file_bytes, kHeaderBytes));
  if (const auto* problem = std::get_if<std::string>(&head)) return *problem;
  if (std::string problem = header_problem(std::get<Bytes>(head)); !problem.empty()) return problem;
  if (file_bytes < kHeaderBytes + kFooterBytes) return "is truncated";
  const std::uint64_t end = file_bytes - kFooterBytes;
  const BytesOrProblem tail = read_at(descriptor, end, kFooterBytes);
  if (const auto* problem = std::get_if<std::string>(&tail)) return *problem;
  ByteReader reader(std::get<Bytes>(tail));
  const Footer footer{.offset = reader.u64(), .stored = reader.u64(), .size = reader.u64()};
  if (footer.offset < kHeaderBytes || footer.offset > end || footer.stored != end - footer.offset ||
      footer.size > kMaxManifestBytes || !fits(footer.stored, footer.size))
    return "is truncated or damaged: its end is not where it should be";
  const BytesOrProblem frame = read_at(descriptor, footer.offset, footer.stored);
  if (const auto* problem = std::get_if<std::string>(&frame)) return *problem;
  if (!std::ranges::equal(checksum(std::get<Bytes>(frame), footer), reader.raw(sizeof(Digest))))
    return "is damaged: the checksum of its manifest does not match";
  return items_of(std::get<Bytes>(frame), footer);
}

}  // namespace

std::string archive_head_problem(std::span<const std::byte> head) {
  if (std::string problem = header_problem(head); !problem.empty()) return problem;
  ByteReader frame(head.subspan(kHeaderBytes));
  // Of the first block, or of the manifest where there is none.
  if (frame.u32() == ZSTD_MAGICNUMBER) return "";
  return frame.failed() ? "is truncated" : "is damaged: no compressed part follows its first bytes";
}

std::variant<std::shared_ptr<const Archive>, std::string> Archive::open(const std::filesystem::path& file) {
  std::shared_ptr<Archive> archive(new Archive);
  archive->descriptor_ = open_file(file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!archive->descriptor_.valid()) return fmt::format("can't be opened ({})", error_text(errno));
  struct stat status{};
  if (::fstat(archive->descriptor_.get(), &status) != 0) return fmt::format("can't be read ({})", error_text(errno));
  if (!S_ISREG(status.st_mode)) return "is no regular file";
  auto items = read_manifest(archive->descriptor_.get(), static_cast<std::uint64_t>(status.st_size));
  if (auto* problem = std::get_if<std::string>(&items)) return std::move(*problem);
  archive->items_ = std::get<std::vector<ArchiveItem>>(std::move(items));
  return archive;
}

const ArchiveItem* Archive::find(const Digest& digest) const {
  const auto found = std::ranges::lower_bound(items_, digest, {}, &ArchiveItem::digest);
  return found != items_.end() && found->digest == digest ? &*found : nullptr;
}

std::variant<std::vector<std::byte>, std::string> Archive::read(const ArchiveItem& item) const {
  BytesOrProblem frame = read_at(descriptor_.get(), item.offset, item.stored_bytes);
  if (std::holds_alternative<std::string>(frame)) return frame;
  return unpacked(std::get<Bytes>(frame), item.entry_bytes);
}

std::vector<std::byte> encode_archive(const std::vector<PackedEntry>& entries) {
  std::vector<std::pair<Digest, const PackedEntry*>> order;
  order.reserve(entries.size());
  for (const PackedEntry& entry : entries) order.emplace_back(entry.key.digest(), &entry);
  std::ranges::sort(order);
  const auto repeated = std::ranges::unique(order, {}, [](const auto& each) { return each.first; });
  order.erase(repeated.begin(), repeated.end());

  ByteWriter archive;
  archive.raw(header());
  ByteWriter manifest;
  manifest.u64(order.size());
  for (const auto& [digest, entry] : order) {
    const Bytes block = packed(entry->bytes);
    write_key(manifest, entry->key);
    manifest.u64(archive.bytes().size());
    manifest.u64(block.size());
    manifest.u64(entry->bytes.size());
    archive.raw(block);
  }
  if (manifest.bytes().size() > kMaxManifestBytes)
    throw std::runtime_error(fmt::format("{} kernels are too many for one archive", order.size()));
  const Bytes frame = packed(manifest.bytes());
  const Footer footer{.offset = archive.bytes().size(), .stored = frame.size(), .size = manifest.bytes().size()};
  archive.raw(frame);
  archive.u64(footer.offset);
  archive.u64(footer.stored);
  archive.u64(footer.size);
  archive.raw(checksum(frame, footer));
  return archive.take();
}

}  // namespace monojit::cache
