#include "cache/remote/protocol.h"

#ifdef MONOJIT_HAS_HIREDIS

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fmt/format.h>
#include <hiredis.h>
#include <sys/time.h>

#include "cache/file.h"

namespace monojit::cache {
namespace {

using Clock = RemoteProtocol::Clock;

constexpr std::string_view kPrefix = "monojit:";
constexpr std::size_t kReplyHead = 64;        ///< more than an answer's length and line ends take
constexpr int kMaxElements = 16;              ///< of a list, which is no answer to what is asked
constexpr std::size_t kMaxReasonBytes = 200;  ///< of a server's words, which go to the user

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};
struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

/// What is left until the deadline; throws when nothing is.
timeval left_until(Clock::time_point deadline) {
  constexpr std::int64_t kMicroseconds = 1'000'000;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now()).count();
  if (left <= 0) throw RemoteFailure("no answer in time");
  return {.tv_sec = left / kMicroseconds, .tv_usec = left % kMicroseconds};
}

class Redis : public RemoteProtocol {
 public:
  explicit Redis(RemoteUrl url) : url_(std::move(url)) {}

  std::optional<std::vector<std::byte>> get(const std::string& name, Clock::time_point deadline) override {
    const Reply reply = ask({"GET", key_of(name)}, deadline);
    if (reply->type == REDIS_REPLY_NIL) return std::nullopt;
    if (reply->type != REDIS_REPLY_STRING) throw RemoteFailure("an answer that is no text");
    const auto bytes = std::as_bytes(std::span(reply->str, reply->len));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }

  bool contains(const std::string& name, Clock::time_point deadline) override {
    const Reply reply = ask({"EXISTS", key_of(name)}, deadline);
    if (reply->type != REDIS_REPLY_INTEGER) throw RemoteFailure("an answer that is no number");
    return reply->integer != 0;
  }

  void put(const std::string& name, std::span<const std::byte> bytes, Clock::time_point deadline) override {
    const std::string_view value(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ask({"SET", key_of(name), value}, deadline);
  }

 private:
  static std::string key_of(const std::string& name) { return std::string(kPrefix) + name; }

  /// Makes the connection where there is none. A failure ends it; a refusal does not.
  Reply ask(std::initializer_list<std::string_view> words, Clock::time_point deadline) {
    try {
      if (context_ == nullptr) connect(deadline);
      return exchange(words, deadline);
    } catch (const RemoteRefusal&) {
      throw;
    } catch (...) {
      context_.reset();
      throw;
    }
  }

  void connect(Clock::time_point deadline) {
    context_.reset(redisConnectWithTimeout(url_.host.c_str(), url_.port, left_until(deadline)));
    if (context_ == nullptr) throw RemoteFailure("no memory");
    check();
    context_->reader->maxelements = kMaxElements;
    if (!url_.password.empty()) {
      if (url_.user.empty()) {
        exchange({"AUTH", url_.password}, deadline);
      } else {
        exchange({"AUTH", url_.user, url_.password}, deadline);
      }
    }
    if (!url_.path.empty()) exchange({"SELECT", url_.path}, deadline);
  }

  void check() const {
    if (context_->err == 0) return;
    const bool too_late = context_->err == REDIS_ERR_TIMEOUT ||
                          (context_->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT));
    throw RemoteFailure(too_late ? "no answer in time" : printable(context_->errstr));
  }

  /// hiredis' own time limit is for one read; here many reads of a slow answer share one.
  Reply exchange(std::initializer_list<std::string_view> words, Clock::time_point deadline) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(), sizes.data());
    check();
    for (int done = 0; done == 0;) {
      redisSetTimeout(context_.get(), left_until(deadline));
      redisBufferWrite(context_.get(), &done);
      check();
    }
    void* raw = nullptr;
    while (raw == nullptr) {
      redisGetReplyFromReader(context_.get(), &raw);
      check();
      if (raw != nullptr) break;
      redisSetTimeout(context_.get(), left_until(deadline));
      redisBufferRead(context_.get());
      check();
      if (context_->reader->len > kMaxRemoteBytes + kReplyHead) throw RemoteFailure("an answer of " + too_large());
    }
    Reply reply(static_cast<redisReply*>(raw));
    if (reply->type == REDIS_REPLY_ERROR)
      throw RemoteRefusal(printable(std::string_view(reply->str, reply->len).substr(0, kMaxReasonBytes)));
    return reply;
  }

  RemoteUrl url_;
  std::unique_ptr<redisContext, FreeContext> context_;
};

}  // namespace

std::unique_ptr<RemoteProtocol> make_redis_protocol(const RemoteUrl& url) { return std::make_unique<Redis>(url); }

}  // namespace monojit::cache

#else

namespace monojit::cache {
std::unique_ptr<RemoteProtocol> make_redis_protocol(const RemoteUrl& /*url*/) { return nullptr; }
}  // namespace monojit::cache

#endif
