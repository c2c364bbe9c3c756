// The worked example of docs/cache-format.md is the format's golden file.

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "cache/entry.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using Catch::Matchers::ContainsSubstring;

/// The entry that the document shows.
Entry documented_entry() {
  Entry entry = testing::example_entry(1, 0);
  for (const char c : {'\x7F', 'E', 'L', 'F'}) entry.code_object.push_back(static_cast<std::byte>(c));
  return entry;
}

/// The text of the document's "    0010  89 4d 4f ...  |text|" lines for these bytes.
std::string dump(std::span<const std::byte> bytes) {
  constexpr std::size_t kPerLine = 16;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += kPerLine) {
    std::string digits;
    std::string letters;
    for (const std::byte byte : bytes.subspan(at, std::min(kPerLine, bytes.size() - at))) {
      const auto code = std::to_integer<unsigned char>(byte);
      digits += fmt::format("{:02x} ", code);
      letters += code >= 0x20 && code < 0x7F ? static_cast<char>(code) : '.';
    }
    text += fmt::format("    {:04x}  {:<48} |{}|\n", at, digits, letters);
  }
  return text;
}

std::string document() {
  std::ifstream file(MONOJIT_CACHE_DOCUMENT);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("the document's worked example is what encode() writes, byte for byte, in every build") {
  CHECK_THAT(document(), ContainsSubstring(dump(encode(documented_entry()))));
}

TEST_CASE("the document names the file of its worked example") {
  CHECK_THAT(document(), ContainsSubstring(hex(documented_entry().key.digest()) + ".mono"));
}

}  // namespace
}  // namespace monojit::cache
