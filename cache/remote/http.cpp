#include "cache/remote/protocol.h"

#ifdef MONOJIT_HAS_HTTPLIB

#include <algorithm>

#include <fmt/format.h>
#include <httplib.h>

#include "cache/entry.h"

namespace monojit::cache {
namespace {

using Clock = RemoteProtocol::Clock;

constexpr int kOk = 200;
constexpr int kLastOk = 299;
constexpr int kNotFound = 404;
constexpr int kGone = 410;
constexpr int kServerFault = 500;

class Http : public RemoteProtocol {
 public:
  explicit Http(const RemoteUrl& url) : folder_(url.path + "/entries/"), client_(url.host, url.port) {
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
    if (!url.user.empty()) client_.set_basic_auth(url.user, url.password);
  }

  std::optional<std::vector<std::byte>> get(const std::string& name, Clock::time_point deadline) override {
    limit(deadline);
    std::vector<std::byte> bytes;
    const auto result = client_.Get(folder_ + name, [&](const char* data, std::size_t size) {
      const auto part = std::as_bytes(std::span(data, size));
      bytes.insert(bytes.end(), part.begin(), part.end());
      return bytes.size() <= kMaxEntryBytes && Clock::now() < deadline;
    });
    if (!found(result)) return std::nullopt;
    return bytes;
  }

  bool contains(const std::string& name, Clock::time_point deadline) override {
    limit(deadline);
    return found(client_.Head(folder_ + name));
  }

  void put(const std::string& name, std::span<const std::byte> bytes, Clock::time_point deadline) override {
    limit(deadline);
    const auto result = client_.Put(folder_ + name, reinterpret_cast<const char*>(bytes.data()), bytes.size(),
                                    "application/octet-stream");
    if (!found(result)) throw RemoteRefusal("HTTP status 404");
  }

 private:
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
