#include "cache/bytes.h"

namespace monojit::cache {
namespace {

template <class Number>
void append_little_endian(std::vector<std::byte>& bytes, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

template <class Number>
Number little_endian(std::span<const std::byte> bytes) {
  Number value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<Number>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

void ByteWriter::u32(std::uint32_t value) { append_little_endian(bytes_, value); }
void ByteWriter::u64(std::uint64_t value) { append_little_endian(bytes_, value); }

void ByteWriter::raw(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.data(), bytes.data() + bytes.size());
}

void ByteWriter::blob(std::span<const std::byte> bytes) {
  u64(bytes.size());
  raw(bytes);
}

std::uint32_t ByteReader::u32() { return little_endian<std::uint32_t>(raw(sizeof(std::uint32_t))); }
std::uint64_t ByteReader::u64() { return little_endian<std::uint64_t>(raw(sizeof(std::uint64_t))); }

std::span<const std::byte> ByteReader::raw(std::uint64_t size) {
  if (failed_ || size > rest_.size()) {
    failed_ = true;
    return {};
  }
  const auto bytes = rest_.first(static_cast<std::size_t>(size));
  rest_ = rest_.subspan(bytes.size());
  return bytes;
}

std::span<const std::byte> ByteReader::blob() { return raw(u64()); }

std::string ByteReader::text() {
  const auto bytes = blob();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace monojit::cache
