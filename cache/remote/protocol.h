#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cache/entry.h"
#include "cache/remote/url.h"

namespace monojit::cache {

/// Most bytes of an entry that travels: far more than a kernel takes, and what a bad answer can take of memory.
inline constexpr std::size_t kMaxRemoteBytes = kMaxEntryBytes;

/// "more than 64 MiB"
inline std::string too_large() { return fmt::format("more than {} MiB", kMaxRemoteBytes >> 20); }

/// The other side does not answer, or not in this protocol.
class RemoteFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The other side answered, and will not do it.
class RemoteRefusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One connection, made when it is first needed and anew after a failure; of one thread at a time. An exchange ends
/// soon after its deadline, but a name's look-up in the DNS may take longer. All throw the two above.
class RemoteProtocol {
 public:
  using Clock = std::chrono::steady_clock;

  RemoteProtocol() = default;
  RemoteProtocol(const RemoteProtocol&) = delete;
  RemoteProtocol& operator=(const RemoteProtocol&) = delete;
  virtual ~RemoteProtocol() = default;

  virtual std::optional<std::vector<std::byte>> get(const std::string& name, Clock::time_point deadline) = 0;
  virtual bool contains(const std::string& name, Clock::time_point deadline) = 0;
  virtual void put(const std::string& name, std::span<const std::byte> bytes, Clock::time_point deadline) = 0;
};

// nullptr where this build has no such protocol.
std::unique_ptr<RemoteProtocol> make_redis_protocol(const RemoteUrl& url);
std::unique_ptr<RemoteProtocol> make_http_protocol(const RemoteUrl& url);

}  // namespace monojit::cache
