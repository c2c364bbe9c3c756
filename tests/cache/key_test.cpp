#include "cache/key.h"

#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_key;

/// `key` with one field changed, for each of its fields.
std::vector<Key> one_change_each(const Key& key) {
  std::vector<Key> changed(7, key);
  changed[0].family += '2';
  changed[1].text += ' ';
  changed[2].bytes.front() ^= std::byte{1};
  changed[3].target = "amdgcn-amd-amdhsa--gfx942";
  changed[4].options += ",debug";
  changed[5].generator.back() ^= 1;
  changed[6].toolchain += "-rc1";
  return changed;
}

TEST_CASE("the digest is BLAKE3") {
  CHECK(hex(digest_of({})) == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  const std::string abc = "abc";
  CHECK(hex(digest_of(std::as_bytes(std::span(abc)))) ==
        "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
}

TEST_CASE("a digest's text reads back, and no other text does") {
  const Digest digest = example_key().digest();
  CHECK(parse_hex(hex(digest)) == digest);
  CHECK_FALSE(parse_hex(hex(digest).substr(1)).has_value());
  CHECK_FALSE(parse_hex(hex(digest) + "0").has_value());
  CHECK_FALSE(parse_hex("G" + hex(digest).substr(1)).has_value());
  CHECK_FALSE(parse_hex("A" + hex(digest).substr(1)).has_value());
}

TEST_CASE("a key's digest is the same in every build and on every machine") {
  CHECK(hex(example_key().digest()) == "503a645c971756d4e542fd1a39d66cccb4e63e0042859b51d51747e7e3e44bbd");
}

TEST_CASE("keys that differ in any one field differ, and so do their digests") {
  const Key key = example_key();
  std::set<std::string> names{hex(key.digest())};
  for (const Key& changed : one_change_each(key)) {
    CHECK(changed != key);
    CHECK(names.insert(hex(changed.digest())).second);
  }
}

TEST_CASE("a byte that moves from one field into the next makes another key") {
  Key first = example_key();
  first.target = "ab";
  first.options = "c";
  Key second = first;
  second.target = "a";
  second.options = "bc";
  CHECK(first.digest() != second.digest());

  first.options = std::string("x\0", 2);
  second = first;
  second.options = "x";
  CHECK(first.digest() != second.digest());
}

TEST_CASE("a written key reads back, also with empty fields and odd bytes") {
  Key odd = example_key();
  odd.options = std::string("\0\n\xFF", 3);
  for (const Key& key : {example_key(), odd, Key{}}) {
    ByteWriter writer;
    write_key(writer, key);
    ByteReader reader(writer.bytes());
    CHECK(read_key(reader) == key);
    CHECK_FALSE(reader.failed());
    CHECK(reader.remaining() == 0);
  }
}

TEST_CASE("a key's description is one line whatever is in it") {
  Key key = example_key();
  key.text = "a\nb";
  CHECK(describe(key) == "a\\x0ab for amdgcn-amd-amdhsa--gfx950");
}

}  // namespace
}  // namespace monojit::cache
