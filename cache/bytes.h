#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monojit::cache {

/// Appends numbers (little-endian on every host) and length-prefixed blobs.
class ByteWriter {
 public:
  void u32(std::uint32_t value);
  void u64(std::uint64_t value);
  void raw(std::span<const std::byte> bytes);
  /// u64 length, then the bytes: no two sequences of blobs have the same encoding.
  void blob(std::span<const std::byte> bytes);
  void blob(std::string_view text) { blob(std::as_bytes(std::span(text))); }

  void reserve(std::size_t size) { bytes_.reserve(size); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what ByteWriter wrote. A read past the end yields zero or nothing and makes failed() true for good, so a
/// parser checks once, at its end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint32_t u32();
  std::uint64_t u64();
  std::span<const std::byte> raw(std::uint64_t size);
  std::span<const std::byte> blob();
  std::string text();

  bool failed() const { return failed_; }
  std::size_t remaining() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace monojit::cache
