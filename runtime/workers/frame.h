#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

/// What an engine's process and its worker say to each other: frames of a length (8 bytes, this machine's order) and as
/// many bytes of CBOR. Both sides belong to one build of monojit.
///
///   to the worker    {"toolchain": true}                               which LLVM and comgr it has
///                    {"key": text, "digest": text, "arch": text}       build this
///   to the engine    {"stage": text}                                   what the build is at; any number of them
///                    {"toolchain": text}
///                    {"record": JSON text, "code": bytes}
///                    {"failure": "user" | "build" | "internal" | "memory", "text": text}
///                    each but the first with "peak_bytes": most memory that the worker ever had
namespace monojit::runtime {

using Frame = nlohmann::json;

/// With its length.
std::vector<std::byte> encode_frame(const Frame& frame);

/// All of `bytes` through a stream socket; false when the other end has gone. Raises no signal.
bool send_all(int socket, std::span<const std::byte> bytes);

/// Puts frames together from the bytes that come.
class FrameReader {
 public:
  void add(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// The next whole frame, if there is one. Throws std::runtime_error for what is none.
  std::optional<Frame> next();

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace monojit::runtime
