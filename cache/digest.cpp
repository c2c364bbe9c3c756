#include "cache/digest.h"

#include <cstdint>

#include <blake3.h>

namespace monojit::cache {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

Digest digest_of(std::span<const std::byte> bytes) {
  blake3_hasher hasher;
  blake3_hasher_init(&hasher);
  blake3_hasher_update(&hasher, bytes.data(), bytes.size());
  Digest digest;
  blake3_hasher_finalize(&hasher, reinterpret_cast<std::uint8_t*>(digest.data()), digest.size());
  return digest;
}

std::string hex(const Digest& digest) {
  std::string text;
  text.reserve(kHexDigits);
  for (const std::byte byte : digest) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{0xF})];
  }
  return text;
}

std::optional<Digest> parse_hex(std::string_view text) {
  if (text.size() != kHexDigits) return std::nullopt;
  Digest digest{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    digest[i / 2] = digest[i / 2] << 4 | static_cast<std::byte>(digit);
  }
  return digest;
}

}  // namespace monojit::cache
