#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace monojit::cache {

/// Where a remote store is: "redis://[[user]:password@]host[:port][/db]" or
/// "http://[user:password@]host[:port][/path]", then "?" and, joined by "&": "readonly", "timeout_ms=N".
struct RemoteUrl {
  enum class Scheme : std::uint8_t { kRedis, kHttp };

  Scheme scheme = Scheme::kRedis;
  std::string user;
  std::string password;
  std::string host;
  int port = 0;
  std::string path;  ///< HTTP: "" or "/a/b"; Redis: the number of the database, "" for the first
  bool read_only = false;
  std::chrono::milliseconds timeout{1000};  ///< for one whole exchange

  /// Without user and password, for messages.
  std::string shown() const;
};

/// The parts, or what is wrong with the text (which may hold a password, so it does not repeat it).
std::variant<RemoteUrl, std::string> parse_remote_url(std::string_view text);

}  // namespace monojit::cache
