#include "cache/remote/protocol.h"

#ifdef MONOJIT_HAS_HTTPLIB

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>

namespace monojit::cache {
namespace {

using Clock = RemoteProtocol::Clock;

constexpr int kOk = 200;
constexpr int kLastOk = 299;
constexpr int kNotFound = 404;
constexpr int kGone = 410;
constexpr int kServerFault = 500;
/// Of an answer that is no entry: an error page, say. Nobody reads it.
constexpr std::size_t kMaxOtherAnswer = std::size_t{64} << 10;

/// An entry comes as it is stored: what is unpacked on the way has no known size. And it goes without asking first
/// whether it is welcome: a server that does not know the question costs the time that the answer is waited for.
const httplib::Headers& headers() {
  static const httplib::Headers kHeaders = {{"Accept-Encoding", "identity"}, {"Expect", ""}};
  return kHeaders;
}

class Http : public RemoteProtocol {
 public:
  explicit Http(const RemoteUrl& url) : folder_(url.path + "/entries/"), client_(url.host, url.port) {
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
    client_.set_decompress(false);
    client_.set_default_headers(headers());
    if (!url.user.empty()) client_.set_basic_auth(url.user, url.password);
  }

  std::optional<std::vector<std::byte>> get(const std::string& name, Clock::time_point deadline) override {
    std::vector<std::byte> bytes;
    bool too_much = false;
    const auto result = ask(deadline, 2 * kMaxRemoteBytes, [&] {  // the library's own limit has no name of its own
      bytes.clear();
      return client_.Get(folder_ + name, [&](const char* data, std::size_t size) {
        too_much = size > kMaxRemoteBytes - bytes.size();
        if (too_much || Clock::now() >= deadline) return false;
        const auto part = std::as_bytes(std::span(data, size));
        bytes.insert(bytes.end(), part.begin(), part.end());
        return true;
      });
    });
    if (too_much) throw RemoteFailure("an answer of " + too_large());
    if (!found(result)) return std::nullopt;
    return bytes;
  }

  bool contains(const std::string& name, Clock::time_point deadline) override {
    return found(ask(deadline, kMaxOtherAnswer, [&] { return client_.Head(folder_ + name); }));
  }

  void put(const std::string& name, std::span<const std::byte> bytes, Clock::time_point deadline) override {
    const auto result = ask(deadline, kMaxOtherAnswer, [&] {
      return client_.Put(folder_ + name, reinterpret_cast<const char*>(bytes.data()), bytes.size(),
                         "application/octet-stream");
    });
    if (!found(result)) throw RemoteRefusal("HTTP status 404");
  }

 private:
  /// A connection that was kept may have been closed by the other side meanwhile, which says nothing about this
  /// exchange: it gets one more, new. All that is asked here may be asked twice.
  httplib::Result ask(Clock::time_point deadline, std::size_t most_bytes,
                      const std::function<httplib::Result()>& exchange) {
    limit(deadline);
    client_.set_payload_max_length(most_bytes);
    const bool kept = client_.is_socket_open() != 0;
    httplib::Result result = exchange();
    if (result || !kept || !lost(result.error())) return result;
    limit(deadline);
    return exchange();
  }

  static bool lost(httplib::Error error) {
    return error == httplib::Error::Read || error == httplib::Error::Write || error == httplib::Error::ConnectionClosed;
  }

  void limit(Clock::time_point deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) throw RemoteFailure("no answer in time");
    client_.set_connection_timeout(left);
    client_.set_read_timeout(left);
    client_.set_write_timeout(left);
    client_.set_max_timeout(left);
  }

  /// False for what is not there.
  static bool found(const httplib::Result& result) {
    if (!result) throw RemoteFailure(httplib::to_string(result.error()));
    const int status = result->status;
    if (status >= kOk && status <= kLastOk) return true;
    if (status == kNotFound || status == kGone) return false;
    const std::string text = fmt::format("HTTP status {}", status);
    if (status >= kServerFault) throw RemoteFailure(text);
    throw RemoteRefusal(text);
  }

  std::string folder_;
  httplib::Client client_;
};

}  // namespace

std::unique_ptr<RemoteProtocol> make_http_protocol(const RemoteUrl& url) { return std::make_unique<Http>(url); }

}  // namespace monojit::cache

#else

namespace monojit::cache {
std::unique_ptr<RemoteProtocol> make_http_protocol(const RemoteUrl& /*url*/) { return nullptr; }
}  // namespace monojit::cache

#endif
