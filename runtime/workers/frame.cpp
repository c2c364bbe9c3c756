#include "runtime/workers/frame.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <sys/socket.h>

namespace monojit::runtime {
namespace {

/// No kernel comes near it.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

}  // namespace

std::vector<std::byte> encode_frame(const Frame& frame) {
  const std::vector<std::uint8_t> body = Frame::to_cbor(frame);
  const std::uint64_t length = body.size();
  std::vector<std::byte> bytes(sizeof length + body.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, body.data(), body.size());
  return bytes;
}

bool send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

std::optional<Frame> FrameReader::next() {
  std::uint64_t length = 0;
  if (bytes_.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes_.data(), sizeof length);
  if (length > kMostBytes) throw std::runtime_error("a frame is too long");
  if (bytes_.size() - sizeof length < length) return std::nullopt;
  const auto* const body = reinterpret_cast<const std::uint8_t*>(bytes_.data()) + sizeof length;
  Frame frame = Frame::from_cbor(body, body + length, true, false);
  if (!frame.is_object()) throw std::runtime_error("a frame holds no object");
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(sizeof length + length));
  return std::optional<Frame>(std::in_place, std::move(frame));
}

}  // namespace monojit::runtime
