// Archives: packing, reading in place, and files that are damaged or none.

#include "cache/archive.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <zstd.h>

#include "cache/bytes.h"
#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::example_entry;
using testing::example_key;
using testing::ScratchFolder;
using testing::WarningLog;
using testing::write_archive;

constexpr int kEntries = 5;

std::vector<PackedEntry> packed_entries() {
  std::vector<PackedEntry> entries;
  for (int n = 1; n <= kEntries; ++n) entries.push_back({example_key(n), encode(example_entry(n))});
  return entries;
}

std::string problem_of(const std::filesystem::path& file) {
  const auto opened = Archive::open(file);
  const auto* problem = std::get_if<std::string>(&opened);
  return problem == nullptr ? "" : *problem;
}

TEST_CASE("what is packed is found in place, byte for byte, and nothing else") {
  const ScratchFolder scratch;
  write_archive(scratch / "pack", packed_entries());
  const auto archive = std::get<std::shared_ptr<const Archive>>(Archive::open(scratch / "pack"));
  REQUIRE(archive->items().size() == kEntries);
  for (int n = 1; n <= kEntries; ++n) {
    const ArchiveItem* item = archive->find(example_key(n).digest());
    REQUIRE(item != nullptr);
    CHECK(item->key == example_key(n));
    CHECK(std::get<std::vector<std::byte>>(archive->read(*item)) == encode(example_entry(n)));
  }
  CHECK(archive->find(example_key(kEntries + 1).digest()) == nullptr);
}

TEST_CASE("the same entries make the same archive, in whatever order and however often they come") {
  const ScratchFolder scratch;
  write_archive(scratch / "a", packed_entries());
  auto entries = packed_entries();
  std::ranges::reverse(entries);
  entries.push_back(entries.front());
  write_archive(scratch / "b", entries);
  CHECK(testing::read_bytes(scratch / "a") == testing::read_bytes(scratch / "b"));
}

TEST_CASE("an empty archive is one") {
  const ScratchFolder scratch;
  write_archive(scratch / "pack", {});
  CHECK(problem_of(scratch / "pack").empty());
}

TEST_CASE("an archive cut anywhere or with any byte changed never gives a wrong entry and never ends the process") {
  const ScratchFolder scratch;
  write_archive(scratch / "pack", {{example_key(1), encode(example_entry(1))}});
  const auto whole = testing::read_bytes(scratch / "pack");
  const auto gives_nothing_wrong = [&](std::span<const std::byte> bytes) {
    testing::write_bytes(scratch / "damaged", bytes);
    WarningLog log;
    Cache cache({.folder = {}, .warn = log.callback(), .settings = {.read_only = {scratch / "damaged"}}});
    const auto hit = cache.lookup(example_key(1));
    return !hit || *hit->entry == example_entry(1);
  };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    REQUIRE(gives_nothing_wrong(std::span(whole).first(size)));
    REQUIRE_FALSE(problem_of(scratch / "damaged").empty());
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] ^= std::byte{0x10};
    CAPTURE(at);
    REQUIRE(gives_nothing_wrong(changed));
  }
}

TEST_CASE("an archive of another version, another file and a missing one are named for what they are") {
  const ScratchFolder scratch;
  write_archive(scratch / "pack", packed_entries());
  auto bytes = testing::read_bytes(scratch / "pack");
  bytes[8] = std::byte{2};
  testing::write_bytes(scratch / "later", bytes);
  CHECK(problem_of(scratch / "later") == "has archive version 2, this release reads version 1");
  testing::write_text(scratch / "text", "this is a text of a few words, longer than a header");
  CHECK(problem_of(scratch / "text") == "is no archive of kernels (wrong first bytes)");
  CHECK_THAT(problem_of(scratch / "missing"), ContainsSubstring("No such file"));
  CHECK(problem_of(scratch.path()) == "is no regular file");
}

/// An archive's first and last bytes, and a hole of `hole` bytes that the footer calls the manifest of `size` bytes.
void write_hollow(const std::filesystem::path& file, std::uint64_t hole, std::uint64_t size) {
  constexpr std::size_t kHeaderBytes = 12;
  const auto sound = encode_archive({});
  ByteWriter footer;
  footer.u64(kHeaderBytes);
  footer.u64(hole);
  footer.u64(size);
  footer.raw(Digest{});
  testing::write_bytes(file, std::span(sound).first(kHeaderBytes));
  std::filesystem::resize_file(file, kHeaderBytes + hole);
  std::ofstream stream(file, std::ios::binary | std::ios::app);
  stream.write(reinterpret_cast<const char*>(footer.bytes().data()),
               static_cast<std::streamsize>(footer.bytes().size()));
}

TEST_CASE("an archive whose manifest claims more bytes than one can have is damaged, and none of them is read") {
  constexpr std::uint64_t kTerabytes = std::uint64_t{4} << 40;
  const ScratchFolder scratch;
  for (const std::uint64_t size : {std::uint64_t{100}, kTerabytes}) {
    write_hollow(scratch / "hollow", kTerabytes, size);
    CHECK_THAT(problem_of(scratch / "hollow"), ContainsSubstring("truncated or damaged"));
  }
  write_hollow(scratch / "hollow", 100, 100);
  CHECK_THAT(problem_of(scratch / "hollow"), ContainsSubstring("checksum"));
}

/// An archive without blocks' sense: as many zeros where they would be, then the frame of `manifest`, sealed.
void write_sealed(const std::filesystem::path& file, std::size_t block_bytes, std::span<const std::byte> manifest) {
  constexpr std::size_t kHeaderBytes = 12;
  std::vector<std::byte> frame(ZSTD_compressBound(manifest.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), manifest.data(), manifest.size(), 1));
  const auto header = encode_archive({});
  ByteWriter numbers;
  numbers.u64(kHeaderBytes + block_bytes);
  numbers.u64(frame.size());
  numbers.u64(manifest.size());
  ByteWriter sealed;
  ByteWriter archive;
  for (ByteWriter* const each : {&sealed, &archive}) {
    each->raw(std::span(header).first(kHeaderBytes));
    if (each == &archive) each->raw(std::vector<std::byte>(block_bytes));
    each->raw(frame);
    each->raw(numbers.bytes());
  }
  archive.raw(digest_of(sealed.bytes()));
  testing::write_bytes(file, archive.bytes());
}

/// The items of one key, `count` times, each of a block of no bytes.
std::vector<std::byte> repeated_item(std::uint64_t claimed, int count) {
  ByteWriter manifest;
  manifest.u64(claimed);
  for (int i = 0; i < count; ++i) {
    write_key(manifest, example_key(1));
    for (int number = 0; number < 3; ++number) manifest.u64(0);
  }
  return manifest.take();
}

TEST_CASE("a manifest with more than its archive has room for is refused before any of it is taken apart") {
  constexpr std::size_t kBlockBytes = 4096;
  constexpr std::size_t kManifestBytes = std::size_t{1} << 28;
  constexpr std::uint64_t kItemsOfNothing = (kManifestBytes - 8) / 80;
  const ScratchFolder scratch;
  std::vector<std::byte> manifest(kManifestBytes);
  ByteWriter count;
  count.u64(kItemsOfNothing);
  std::ranges::copy(count.bytes(), manifest.begin());
  for (const std::size_t block_bytes : {std::size_t{0}, kBlockBytes}) {
    write_sealed(scratch / "pack", block_bytes, manifest);
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THAT(problem_of(scratch / "pack"), ContainsSubstring("does not add up"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
  }
}

TEST_CASE("an archive with a block that would be larger than any entry is malformed, and takes no memory") {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  const ScratchFolder scratch;
  for (const std::uint64_t bytes : {kMost, kMost + 1, std::uint64_t{1} << 30}) {
    ByteWriter manifest;
    manifest.u64(1);
    write_key(manifest, example_key(1));
    for (const std::uint64_t number : {std::uint64_t{12}, std::uint64_t{4096}, bytes}) manifest.u64(number);
    write_sealed(scratch / "pack", 4096, manifest.take());
    CHECK(problem_of(scratch / "pack").empty() == (bytes <= kMost));
  }
}

TEST_CASE("a manifest that counts more items than there is room for blocks, or has one twice, is malformed") {
  constexpr std::size_t kRoomForTwo = 2 * sizeof(Digest);
  const ScratchFolder scratch;
  write_sealed(scratch / "pack", kRoomForTwo, repeated_item(1, 1));
  CHECK(problem_of(scratch / "pack").empty());
  write_sealed(scratch / "pack", kRoomForTwo, repeated_item(2, 2));
  CHECK_THAT(problem_of(scratch / "pack"), ContainsSubstring("does not add up"));
  write_sealed(scratch / "pack", sizeof(Digest) - 1, repeated_item(1, 1));
  CHECK_THAT(problem_of(scratch / "pack"), ContainsSubstring("does not add up"));
}

}  // namespace
}  // namespace monojit::cache
