#include "cache/remote/remote_tier.h"

#include <atomic>
#include <condition_variable>
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
  std::atomic<bool> takes_stores = true;
  Clock::duration limit;       ///< of one exchange
  Clock::time_point deadline;  ///< of the exchange that runs
  Clock::duration slow{};      ///< what slow answers took since the last rest

  bool rests() const { return Clock::now().time_since_epoch().count() < rests_until_; }
  void rest();
  bool take_turn();
  void end_turn();
  bool is_too_slow(Clock::duration took);

  /// The caller waits no longer for an exchange than this.
  Clock::time_point overdue() const { return deadline + limit / 4; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;  ///< one exchange at a time
  std::atomic<Clock::rep> rests_until_ = Clock::time_point::min().time_since_epoch().count();
};

void RemoteTier::State::rest() {
  const std::lock_guard lock(mutex_);
  rests_until_ = (Clock::now() + kRest).time_since_epoch().count();
  changed_.notify_all();
}

/// Waits while other exchanges run, which the limit of this one does not count. False: the remote is left alone.
bool RemoteTier::State::take_turn() {
  std::unique_lock lock(mutex_);
  while (busy_ && !rests()) {
    if (Clock::now() >= overdue()) throw RemoteFailure("no answer in time");
    changed_.wait_until(lock, overdue());
  }
  if (rests()) return false;
  busy_ = true;
  deadline = Clock::now() + limit;
  return true;
}

void RemoteTier::State::end_turn() {
  const std::lock_guard lock(mutex_);
  busy_ = false;
  changed_.notify_all();
}

/// Counts an answer that brought no entry. True: with it, slow ones have cost enough.
bool RemoteTier::State::is_too_slow(Clock::duration took) {
  if (took > limit / kSlowPart) slow += took;
  if (slow <= kSlowLimits * limit) return false;
  slow = {};
  return true;
}

namespace {

/// Signals are for the embedder's threads, and a connection that the other side closed is no reason to end.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

constexpr const char* kTooSlow = "too much time goes into slow answers";

/// One exchange in its turn, which ends with it. When the remote is to be left alone, it is before another one begins.
/// True: slow answers have cost enough.
bool exchange(RemoteTier::State& state, const std::function<bool(RemoteTier::State&)>& work) {
  const auto start = Clock::now();
  const auto end = [&](bool rest) {
    if (rest) state.rest();
    state.end_turn();
    return rest;
  };
  bool brought_entry = false;
  try {
    brought_entry = work(state);
  } catch (const RemoteRefusal&) {
    if (end(state.is_too_slow(Clock::now() - start))) throw RemoteFailure(kTooSlow);
    throw;
  } catch (...) {
    end(true);
    throw;
  }
  return end(!brought_entry && state.is_too_slow(Clock::now() - start));
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
  state_->limit = url_.timeout;
}

RemoteTier::~RemoteTier() = default;

bool RemoteTier::run(std::function<bool(State&)> work) {
  if (state_ == nullptr) return false;
  try {
    if (!state_->take_turn()) return false;
    const auto overdue = state_->overdue();
    auto task = std::packaged_task<bool()>([state = state_, work = std::move(work)] {
      block_signals();
      return exchange(*state, work);
    });
    auto outcome = task.get_future();
    start(std::move(task));
    if (outcome.wait_until(overdue) != std::future_status::ready) throw RemoteFailure("no answer in time");
    if (outcome.get()) warn_left_alone(kTooSlow);
    return true;
  } catch (const RemoteRefusal& refusal) {
    warn_refused(refusal.what());
  } catch (const std::exception& error) {  // no thread to be had, too
    state_->rest();
    warn_left_alone(error.what());
  }
  return false;
}

/// Begins the exchange whose turn it is.
void RemoteTier::start(std::packaged_task<bool()> task) {
  try {
    std::thread(std::move(task)).detach();
  } catch (...) {
    state_->end_turn();
    throw;
  }
}

void RemoteTier::warn_left_alone(const std::string& why) {
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
  const bool answered = run([answer, name = entry_name(digest)](State& state) {
    *answer = state.protocol->get(name, state.deadline);
    return answer->has_value();
  });
  if (!answered) return nullptr;
  if (!*answer) {
    junk_in_a_row_ = 0;
    return nullptr;
  }
  DecodedEntry decoded = decode_for(key, **answer);
  if (auto* entry = std::get_if<Entry>(&decoded)) {
    junk_in_a_row_ = 0;
    return std::make_shared<const Entry>(std::move(*entry));
  }
  reject(digest, std::get<EntryError>(decoded).text);
  return nullptr;
}

/// One line, however many of its answers are no entries: a page to log in on, say, is the answer to everything.
void RemoteTier::reject(const Digest& digest, const std::string& why) {
  warnings_.once("remote junk " + url_.shown(),
                 fmt::format("cache entry {} of {} {}: it is not used (a remote that gives {} such in a row is left "
                             "alone for {} s)",
                             entry_name(digest), url_.shown(), why, kMostJunk, kRest.count()));
  if (++junk_in_a_row_ >= kMostJunk) {
    junk_in_a_row_ = 0;
    state_->rest();
  }
  const std::lock_guard lock(damaged_mutex_);
  damaged_.insert(digest);
}

bool RemoteTier::contains(const Key& key) {
  const auto answer = std::make_shared<bool>(false);
  const bool answered = run([answer, name = entry_name(key.digest())](State& state) {
    *answer = state.protocol->contains(name, state.deadline);
    return false;
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
    if (!replace && state.protocol->contains(name, state.deadline)) return false;
    try {
      state.protocol->put(name, copy, state.deadline);
    } catch (const RemoteRefusal&) {
      state.takes_stores = false;
      throw;
    }
    return false;
  });
}

}  // namespace monojit::cache
