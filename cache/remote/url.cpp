#include "cache/remote/url.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "cache/file.h"

namespace monojit::cache {
namespace {

constexpr int kRedisPort = 6379;
constexpr int kHttpPort = 80;
constexpr int kMaxPort = 65535;
constexpr int kMaxTimeoutMs = 60'000;

std::optional<int> parse_number(std::string_view text, int last) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < 0 || number > last) return std::nullopt;
  return number;
}

/// Takes what is before `separator`, and the separator, off the front; everything when there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return front;
}

/// Sets what the options say; gives the first that is none.
std::optional<std::string_view> read_options(std::string_view options, RemoteUrl& url) {
  constexpr std::string_view kTimeout = "timeout_ms=";
  while (!options.empty()) {
    const std::string_view option = take_until(options, '&');
    if (option == "readonly") {
      url.read_only = true;
    } else if (option.starts_with(kTimeout)) {
      const auto timeout = parse_number(option.substr(kTimeout.size()), kMaxTimeoutMs);
      if (!timeout || *timeout == 0) return option;
      url.timeout = std::chrono::milliseconds(*timeout);
    } else if (!option.empty()) {
      return option;
    }
  }
  return std::nullopt;
}

/// An option's name is repeated, its value is not: it may be a password.
std::string option_problem(std::string_view option) {
  const std::string_view name = take_until(option, '=');
  return fmt::format("{} is no option of it, or has no such value (readonly, timeout_ms=1 to {})", printable(name),
                     kMaxTimeoutMs);
}

/// "host", "host:port" or "[address]:port"; false when it is none of them.
bool read_host(std::string_view text, RemoteUrl& url) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
  }
  url.host = host;
  if (port.empty()) return !host.empty();
  const auto number = parse_number(port.substr(1), kMaxPort);
  if (port.front() != ':' || !number || *number == 0) return false;
  url.port = *number;
  return !host.empty();
}

void read_user(std::string_view text, RemoteUrl& url) {
  url.user = take_until(text, ':');
  url.password = text;
}

}  // namespace

std::string RemoteUrl::shown() const {
  const bool is_redis = scheme == Scheme::kRedis;
  const bool is_address = host.find(':') != std::string::npos;  // of IPv6
  return fmt::format("{}://{}{}{}:{}{}{}", is_redis ? "redis" : "http", is_address ? "[" : "", printable(host),
                     is_address ? "]" : "", port, is_redis && !path.empty() ? "/" : "", printable(path));
}

std::variant<RemoteUrl, std::string> parse_remote_url(std::string_view text) {
  RemoteUrl url;
  constexpr std::string_view kRedis = "redis://";
  constexpr std::string_view kHttp = "http://";
  if (text.starts_with(kRedis)) {
    url.port = kRedisPort;
    text.remove_prefix(kRedis.size());
  } else if (text.starts_with(kHttp)) {
    url.scheme = RemoteUrl::Scheme::kHttp;
    url.port = kHttpPort;
    text.remove_prefix(kHttp.size());
  } else {
    return "it wants redis://host[:port][/db] or http://host[:port][/path]";
  }
  const std::string_view before_options = take_until(text, '?');
  const std::size_t slash = std::min(before_options.find('/'), before_options.size());
  // What looks like a path or an option may be the rest of a password: nothing of it is repeated.
  if (before_options.find('@', slash) != std::string_view::npos || text.find('@') != std::string_view::npos)
    return "it has an @ behind a / or ? (its user and password may hold neither)";
  if (const auto wrong = read_options(text, url)) return option_problem(*wrong);
  std::string_view place = before_options.substr(0, slash);
  url.path = before_options.substr(slash);
  if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) {
    read_user(place.substr(0, at), url);
    place.remove_prefix(at + 1);
  }
  if (!read_host(place, url)) return "its host or port can't be read";
  while (url.path.ends_with('/')) url.path.pop_back();
  if (url.scheme == RemoteUrl::Scheme::kRedis && !url.path.empty()) {
    constexpr int kMaxDatabase = 1'000'000;
    url.path.erase(0, 1);
    if (!parse_number(url.path, kMaxDatabase)) return "its database is no number";
  }
  return url;
}

}  // namespace monojit::cache
