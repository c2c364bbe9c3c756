#include "cache/entry.h"

#include <algorithm>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;

constexpr std::size_t kVersionOffset = 8;
constexpr std::size_t kSizeOffset = 12;
constexpr std::size_t kHeaderBytes = 20;

EntryFault fault_of(const DecodedEntry& decoded) {
  REQUIRE(std::holds_alternative<EntryError>(decoded));
  return std::get<EntryError>(decoded).fault;
}

std::string text_of(const DecodedEntry& decoded) {
  REQUIRE(std::holds_alternative<EntryError>(decoded));
  return std::get<EntryError>(decoded).text;
}

/// Makes the checksum right again, as someone who tampers would.
void seal(std::vector<std::byte>& file) {
  const auto body = std::span(file).first(file.size() - sizeof(Digest));
  std::ranges::copy(digest_of(body), file.end() - sizeof(Digest));
}

TEST_CASE("an entry that was encoded decodes to itself") {
  for (const std::size_t code_bytes : {0U, 1U, 64U, 40'000U}) {
    const Entry entry = example_entry(1, code_bytes);
    const DecodedEntry decoded = decode(encode(entry));
    REQUIRE(std::holds_alternative<Entry>(decoded));
    CHECK(std::get<Entry>(decoded) == entry);
  }
  CHECK(std::get<Entry>(decode(encode(Entry{}))) == Entry{});
}

TEST_CASE("an entry that is cut at any length is truncated") {
  const auto file = encode(example_entry());
  for (std::size_t size = 0; size < file.size(); ++size) {
    CAPTURE(size);
    CHECK(fault_of(decode(std::span(file).first(size))) == EntryFault::kTruncated);
  }
  CHECK(text_of(decode({})) == "is truncated: 0 bytes, less than a header");
  CHECK(text_of(decode(std::span(file).first(100))) ==
        "is truncated: 100 of " + std::to_string(file.size()) + " bytes");
}

TEST_CASE("every change of any one byte of an entry is noticed") {
  const auto file = encode(example_entry());
  auto damaged = file;
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (unsigned change = 1; change < 256; ++change) {
      damaged[at] = file[at] ^ static_cast<std::byte>(change);
      if (std::holds_alternative<Entry>(decode(damaged))) ++accepted;
    }
    damaged[at] = file[at];
  }
  CHECK(accepted == 0);
  CHECK(std::holds_alternative<Entry>(decode(damaged)));
}

TEST_CASE("what is wrong with an entry is said precisely") {
  const auto good = encode(example_entry());
  auto file = good;

  SECTION("other first bytes") {
    file[0] = std::byte{'M'};
    CHECK(fault_of(decode(file)) == EntryFault::kWrongMagic);
  }
  SECTION("another version, even if the rest is of no shape that we know") {
    file[kVersionOffset] = std::byte{7};
    file.resize(kHeaderBytes + 3);
    CHECK(fault_of(decode(file)) == EntryFault::kWrongVersion);
    CHECK(text_of(decode(file)) == "has format version 7, this release reads version 1");
  }
  SECTION("more bytes after its end") {
    file.resize(file.size() + 5);
    CHECK(fault_of(decode(file)) == EntryFault::kTrailing);
    CHECK(text_of(decode(file)) == "has 5 bytes after its end");
  }
  SECTION("a byte of the code object") {
    file[file.size() - sizeof(Digest) - 1] ^= std::byte{0x10};
    CHECK(fault_of(decode(file)) == EntryFault::kChecksum);
    CHECK(text_of(decode(file)) == "is damaged: its checksum does not match");
  }
  SECTION("a length that does not add up under a right checksum") {
    file[kHeaderBytes + 7] = std::byte{0xFF};  // the family's length: more than 2^63
    seal(file);
    CHECK(fault_of(decode(file)) == EntryFault::kMalformed);
  }
  SECTION("bytes between the code object and a right checksum") {
    file.resize(file.size() + 1);
    ++reinterpret_cast<unsigned char&>(file[kSizeOffset]);
    seal(file);
    CHECK(fault_of(decode(file)) == EntryFault::kMalformed);
  }
  SECTION("a header that leaves no room for a checksum") {
    file.resize(kHeaderBytes);
    file[kSizeOffset] = static_cast<std::byte>(kHeaderBytes);
    file[kSizeOffset + 1] = std::byte{0};
    CHECK(fault_of(decode(file)) == EntryFault::kMalformed);
  }
}

TEST_CASE("an entry of another key is told by that key") {
  const auto file = encode(example_entry(1));
  CHECK(std::holds_alternative<Entry>(decode_for(example_key(1), file)));
  CHECK(fault_of(decode_for(example_key(2), file)) == EntryFault::kOtherKey);
  CHECK(text_of(decode_for(example_key(2), file)) ==
        "holds another key, minimax_m3.k1{tokens=1} for amdgcn-amd-amdhsa--gfx950");
}

// The checksum keeps damage from the parser, so here it is made right again after each change.
TEST_CASE("a tampered entry with a right checksum is refused or means exactly its bytes") {
  constexpr int kRounds = 20'000;
  constexpr std::uint64_t kSeed = 20'260'101;
  const auto good = encode(example_entry(1, 16));
  std::mt19937_64 random(kSeed);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto file = good;
    for (std::size_t changes = 1 + random() % 4; changes > 0; --changes) {
      // Half of the changes hit the lengths at the start, where a parser goes wrong.
      const std::size_t range = random() % 2 == 0 ? 2 * kHeaderBytes : file.size();
      file[random() % range] = static_cast<std::byte>(random());
    }
    seal(file);
    const DecodedEntry decoded = decode(file);
    if (const auto* entry = std::get_if<Entry>(&decoded)) {
      ++accepted;
      REQUIRE(encode(*entry) == file);
    } else {
      ++refused;
    }
  }
  CHECK(accepted > 0);
  CHECK(refused > 0);
}

TEST_CASE("the head of an entry tells its key and the size of its code object, without the rest") {
  for (const std::size_t code_bytes : {0U, 1U, 40'000U}) {
    const Entry entry = example_entry(1, code_bytes);
    const auto file = encode(entry);
    const DecodedHead decoded = decode_head(std::span(file).first(std::min(file.size(), kHeadBytes)), file.size());
    REQUIRE(std::holds_alternative<EntryHead>(decoded));
    CHECK(std::get<EntryHead>(decoded).key == entry.key);
    CHECK(std::get<EntryHead>(decoded).code_bytes == code_bytes);
  }
}

TEST_CASE("a head that is cut, of another size or version, or with lengths beyond its file is refused") {
  const auto file = encode(example_entry());
  const std::span<const std::byte> head(file);
  const std::size_t key_bytes = entry_head(example_key(), file.size()).size();
  for (std::size_t size = 0; size < key_bytes; ++size) {
    CAPTURE(size);
    CHECK(std::holds_alternative<EntryError>(decode_head(head.first(size), file.size())));
  }
  const auto fault = [](const DecodedHead& decoded) { return std::get<EntryError>(decoded).fault; };
  CHECK(fault(decode_head(head, file.size() - 1)) == EntryFault::kTruncated);
  CHECK(fault(decode_head(head, file.size() + 1)) == EntryFault::kTrailing);
  auto changed = file;
  changed[kVersionOffset] = std::byte{2};
  CHECK(fault(decode_head(changed, changed.size())) == EntryFault::kWrongVersion);
  changed = file;
  changed[key_bytes + sizeof(std::uint64_t) - 1] = std::byte{0xFF};  // the metadata's length
  CHECK(fault(decode_head(changed, changed.size())) == EntryFault::kMalformed);
}

TEST_CASE("random bytes behind a right header are refused") {
  constexpr int kRounds = 5'000;
  constexpr std::size_t kMaxBytes = 300;
  constexpr std::uint64_t kSeed = 7;
  const auto good = encode(example_entry());
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::byte> file(kHeaderBytes + sizeof(Digest) + random() % kMaxBytes);
    std::ranges::generate(file, [&] { return static_cast<std::byte>(random()); });
    std::ranges::copy(std::span(good).first(kSizeOffset), file.begin());
    ByteWriter size;
    size.u64(file.size());
    std::ranges::copy(size.bytes(), file.begin() + kSizeOffset);
    seal(file);
    REQUIRE(fault_of(decode(file)) == EntryFault::kMalformed);
  }
}

}  // namespace
}  // namespace monojit::cache
