#include "cache/key.h"

#include <functional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "cache/file.h"

namespace monojit::cache {
namespace {

constexpr std::string_view kDigestPrefix = "monojit cache key 1";

std::size_t mixed(std::size_t seed, std::string_view text) {
  constexpr std::size_t kGolden = 0x9E3779B97F4A7C15U;
  return (seed ^ std::hash<std::string_view>()(text)) * kGolden;
}

}  // namespace

Digest Key::digest() const {
  ByteWriter writer;
  writer.blob(kDigestPrefix);
  write_key(writer, *this);
  return digest_of(writer.bytes());
}

std::size_t KeyHash::operator()(const Key& key) const {
  const std::string_view bytes(reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size());
  return mixed(mixed(mixed(0, key.family), bytes), key.target);
}

void write_key(ByteWriter& writer, const Key& key) {
  writer.blob(key.family);
  writer.blob(key.text);
  writer.blob(key.bytes);
  writer.blob(key.target);
  writer.blob(key.options);
  writer.blob(key.generator);
  writer.blob(key.toolchain);
}

Key read_key(ByteReader& reader) {
  Key key;
  key.family = reader.text();
  key.text = reader.text();
  const std::span<const std::byte> bytes = reader.blob();
  key.bytes.assign(bytes.begin(), bytes.end());
  key.target = reader.text();
  key.options = reader.text();
  key.generator = reader.text();
  key.toolchain = reader.text();
  return key;
}

std::string describe(const Key& key) { return fmt::format("{} for {}", printable(key.text), printable(key.target)); }

}  // namespace monojit::cache
