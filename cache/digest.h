#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace monojit::cache {

/// A BLAKE3 digest, 256 bits.
using Digest = std::array<std::byte, 32>;

inline constexpr std::size_t kHexDigits = 2 * sizeof(Digest);

Digest digest_of(std::span<const std::byte> bytes);

/// 64 lower-case hexadecimal digits.
std::string hex(const Digest& digest);
/// The inverse of hex(); nothing for any other text.
std::optional<Digest> parse_hex(std::string_view text);

}  // namespace monojit::cache
