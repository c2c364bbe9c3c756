#include "cache/remote/remote_tier.h"

#include <atomic>
#include <csignal>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <pthread.h>

#include "cache/inventory.h"
#include "cache/remote/protocol.h"

namespace monojit::cache {

using Clock = RemoteProtocol::Clock;

struct RemoteTier::State {
  std::unique_ptr<RemoteProtocol> protocol;
  std::timed_mutex mutex;  ///< one exchange at a time
  std::atomic<Clock::rep> rests_until = Clock::time_point::min().time_since_epoch().count();
  std::atomic<bool> takes_stores = true;
  Clock::time_point deadline;  ///< of the exchange that runs

  bool rests() const { return Clock::now().time_since_epoch().count() < rests_until; }
};

namespace {

/// Signals are for the embedder's threads, and a connection that the other side closed is no reason to end.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

RemoteTier::RemoteTier(const std::string& url, const Warnings& warnings) : warnings_(warnings) {
  if (url.empty()) return;
  auto parsed = parse_remote_url(url);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    warnings_.once("remote url", fmt::format("MONOJIT_CACHE_REMOTE is not used: {}", *problem));
    return;
  }
  url_ = std::get<RemoteUrl>(std::move(parsed));
  auto protocol = url_.scheme == RemoteUrl::Scheme::kRedis ? make_redis_protocol(url_) : make_http_protocol(url_);
  if (protocol == nullptr) {
    warnings_.once("remote url",
                   fmt::format("remote cache {} is not used: this build has no such protocol", url_.shown()));
    return;
  }
  state_ = std::make_shared<State>();
  state_->protocol = std::move(protocol);
}

RemoteTier::~RemoteTier() = default;

bool RemoteTier::run(std::function<void(State&)> work) {
  if (state_ == nullptr || state_->rests()) return false;
  const auto deadline = Clock::now() + url_.timeout;
  auto task = std::packaged_task<void()>([state = state_, deadline, work = std::move(work)] {
    block_signals();
    const std::unique_lock lock(state->mutex, deadline);
    if (!lock.owns_lock()) throw RemoteFailure("no answer in time");
    if (state->rests()) throw RemoteFailure("");
    state->deadline = deadline;
    work(*state);
  });
  auto outcome = task.get_future();
  try {
    std::thread(std::move(task)).detach();
    if (outcome.wait_until(deadline + url_.timeout / 4) != std::future_status::ready)
      throw RemoteFailure("no answer in time");
    outcome.get();
    return true;
  } catch (const RemoteRefusal& refusal) {
    warn_refused(refusal.what());
  } catch (const std::exception& error) {  // no thread to be had, too
    give_up(error.what());
  }
  return false;
}

void RemoteTier::give_up(const std::string& why) {
  state_->rests_until = (Clock::now() + kRest).time_since_epoch().count();
  if (why.empty()) return;  // another exchange gave up, and said so
  warnings_.once(
      "remote " + url_.shown(),
      fmt::format("remote cache {} fails ({}): it is left alone for {} s at a time", url_.shown(), why, kRest.count()));
}

void RemoteTier::warn_refused(const std::string& why) {
  warnings_.once("remote refuses " + url_.shown(), fmt::format("remote cache {} refuses: {}", url_.shown(), why));
}

std::shared_ptr<const Entry> RemoteTier::lookup(const Key& key) {
  const Digest digest = key.digest();
  const auto answer = std::make_shared<std::optional<std::vector<std::byte>>>();
  const bool answered =
      run([answer, name = entry_name(digest)](State& state) { *answer = state.protocol->get(name, state.deadline); });
  if (!answered || !*answer) return nullptr;
  DecodedEntry decoded = decode_for(key, **answer);
  if (auto* entry = std::get_if<Entry>(&decoded)) return std::make_shared<const Entry>(std::move(*entry));
  const std::string text = fmt::format("cache entry {} of {} {}: it is not used", entry_name(digest), url_.shown(),
                                       std::get<EntryError>(decoded).text);
  warnings_.once(text, text);
  const std::lock_guard lock(damaged_mutex_);
  damaged_.insert(digest);
  return nullptr;
}

bool RemoteTier::contains(const Key& key) {
  const auto answer = std::make_shared<bool>(false);
  const bool answered = run([answer, name = entry_name(key.digest())](State& state) {
    *answer = state.protocol->contains(name, state.deadline);
  });
  return answered && *answer;
}

void RemoteTier::store(const Digest& digest, std::span<const std::byte> bytes, bool replace) {
  if (state_ == nullptr || url_.read_only || !state_->takes_stores) return;
  if (bytes.size() > kMaxRemoteBytes) {
    const std::string text = fmt::format("entry {} is of {}: remote cache {} does not get it", entry_name(digest),
                                         too_large(), url_.shown());
    warnings_.once(text, text);
    return;
  }
  {
    const std::lock_guard lock(damaged_mutex_);
    replace = damaged_.erase(digest) != 0 || replace;
  }
  run([replace, name = entry_name(digest), copy = std::vector<std::byte>(bytes.begin(), bytes.end())](State& state) {
    if (!replace && state.protocol->contains(name, state.deadline)) return;
    try {
      state.protocol->put(name, copy, state.deadline);
    } catch (const RemoteRefusal&) {
      state.takes_stores = false;
      throw;
    }
  });
}

}  // namespace monojit::cache
