#include "tools/rank_processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/common/error.h"
#include "runtime/workers/frame.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

using Message = RankProcesses::Message;
using Milliseconds = RankProcesses::Milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kFailed = 1;
constexpr int kRefused = 2;                  // what it threw is a UserError
constexpr std::size_t kThrownBytes = 16384;  // of a text
constexpr Milliseconds kLookEvery{50};       // at processes that stop without a word
constexpr Milliseconds kMostPassed{1000};    // between two looks: more is a pause of this process, not of a rank

/// In front of a message's bytes.
struct Header {
  std::uint64_t bytes = 0;
  std::int64_t bound_ms = 0;  ///< of its exchange
};

bool receive_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool send_message(int socket, std::span<const std::byte> message, Milliseconds bound) {
  const Header header{.bytes = message.size(), .bound_ms = bound.count()};
  return runtime::send_all(socket, std::as_bytes(std::span(&header, 1))) && runtime::send_all(socket, message);
}

std::optional<Message> receive_message(int socket) {
  Header header;
  if (!receive_all(socket, std::as_writable_bytes(std::span(&header, 1)))) return std::nullopt;
  Message message(header.bytes);
  if (!receive_all(socket, message)) return std::nullopt;
  return message;
}

/// Of a message of which at least that has come.
Header header_of(std::span<const std::byte> arrived) {
  Header header;
  std::memcpy(&header, arrived.data(), sizeof header);
  return header;
}

/// How much of a message is still to come, as far as that is known.
std::size_t missing_bytes(std::span<const std::byte> arrived) {
  if (arrived.size() < sizeof(Header)) return sizeof(Header) - arrived.size();
  return sizeof(Header) + header_of(arrived).bytes - arrived.size();
}

/// Takes what is there of one message, without waiting; false when the other end has gone.
bool take_some(int socket, std::vector<std::byte>& arrived) {
  for (std::size_t missing = 0; (missing = missing_bytes(arrived)) > 0;) {
    const std::size_t had = arrived.size();
    arrived.resize(had + missing);
    const ssize_t got = recv(socket, arrived.data() + had, missing, MSG_DONTWAIT);
    arrived.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN;
  }
  return true;
}

void keep(std::string_view text, std::span<std::byte> memory) {
  std::memcpy(memory.data(), text.data(), std::min(text.size(), memory.size() - 1));
}

[[noreturn]] void run_rank(int rank, int ranks, int socket, const RankProcesses::Body& body,
                           std::span<std::byte> thrown) {
  const runtime::Gather gather = [&](std::span<const std::byte> own, Milliseconds bound) {
    if (!send_message(socket, own, bound)) throw std::runtime_error("the exchange between the ranks has ended");
    std::vector<Message> all;
    for (int peer = 0; peer < ranks; ++peer) {
      auto message = receive_message(socket);
      if (!message) throw std::runtime_error("the exchange between the ranks has ended");
      all.push_back(*std::move(message));
    }
    return all;
  };
  int status = 0;
  try {
    body(rank, gather);
  } catch (const UserError& error) {
    keep(error.what(), thrown);
    status = kRefused;
  } catch (const std::exception& error) {
    keep(error.what(), thrown);
    status = kFailed;
  }
  (void)std::fflush(stderr);
  _exit(status);  // this process's copies of the parent's objects are not its to destroy
}

std::string failure_of(int status, std::span<const std::byte> thrown) {
  if (thrown[0] != std::byte{0}) return reinterpret_cast<const char*>(thrown.data());
  if (WIFSIGNALED(status)) return fmt::format("its process was killed by signal {}", WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    return fmt::format("its process ended with code {}", WEXITSTATUS(status));
  }
  return {};
}

/// "SIGSTOP"
std::string signal_text(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string seconds_text(Milliseconds time) { return fmt::format("{} s", std::chrono::duration<double>(time).count()); }

}  // namespace

RankProcesses::RankProcesses(int ranks, const Body& body)
    : memory_(static_cast<std::size_t>(ranks) * kThrownBytes), ranks_(static_cast<std::size_t>(ranks)) {
  for (Rank& rank : ranks_) rank.thrown = memory_.take(kThrownBytes);
  (void)std::fflush(nullptr);  // or each process would write what is buffered here
  for (int rank = 0; rank < ranks; ++rank) start(rank, body);
}

void RankProcesses::start(int rank, const Body& body) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (process == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kFailed);
    (void)close(ends[0]);
    for (const Rank& earlier : ranks_) {
      if (earlier.socket >= 0) (void)close(earlier.socket);
    }
    run_rank(rank, static_cast<int>(ranks_.size()), ends[1], body, ranks_[static_cast<std::size_t>(rank)].thrown);
  }
  (void)close(ends[1]);
  Rank& started = ranks_[static_cast<std::size_t>(rank)];
  started.number = rank;
  started.process = process;
  started.socket = ends[0];
}

void RankProcesses::end(Rank& rank) {
  (void)close(std::exchange(rank.socket, -1));
  int status = 0;
  while (waitpid(rank.process, &status, 0) < 0 && errno == EINTR) continue;
  rank.process = -1;
  rank.failure = failure_of(status, rank.thrown);
  rank.refused = WIFEXITED(status) && WEXITSTATUS(status) == kRefused;
}

void RankProcesses::end_by_force(Rank& rank, const std::string& why) {
  std::string failure = fmt::format("its process {} {}, and was ended", rank.process, why);
  (void)kill(rank.process, SIGKILL);
  end(rank);
  rank.failure = std::move(failure);
}

RankProcesses::~RankProcesses() {
  for (Rank& rank : ranks_) {
    if (rank.process < 0) continue;
    (void)kill(rank.process, SIGKILL);
    end(rank);
  }
}

void RankProcesses::receive_some() {
  std::vector<pollfd> waiting;
  std::vector<Rank*> pending;
  for (Rank& rank : ranks_) {
    if (!rank.pending()) continue;
    waiting.push_back({.fd = rank.socket, .events = POLLIN, .revents = 0});
    pending.push_back(&rank);
  }
  if (poll(waiting.data(), waiting.size(), static_cast<int>(kLookEvery.count())) <= 0) return;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (waiting[i].revents == 0) continue;
    Rank& rank = *pending[i];
    if (!take_some(rank.socket, rank.arrived)) {
      end(rank);
    } else {
      rank.sent = missing_bytes(rank.arrived) == 0;
    }
  }
}

void RankProcesses::watch_stop(Rank& rank, Milliseconds stopped_bound, Milliseconds passed) {
  if (rank.stop_signal != 0) rank.stopped_for += passed;
  siginfo_t change{};
  while (waitid(P_PID, static_cast<id_t>(rank.process), &change, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
         change.si_pid != 0) {
    const int signal = change.si_code == CLD_STOPPED ? change.si_status : 0;
    const bool told = std::exchange(rank.stop_signal, signal) != 0;
    rank.stopped_for = {};
    change = {};
    if (signal != 0) {
      say(fmt::format("rank {}'s process {} is stopped ({}): unless it goes on, it is ended after {}", rank.number,
                      rank.process, signal_text(signal), seconds_text(stopped_bound)));
    } else if (told) {
      say(fmt::format("rank {}'s process {} goes on", rank.number, rank.process));
    }
  }
  if (rank.stop_signal != 0 && rank.pending() && rank.stopped_for >= stopped_bound) {
    end_by_force(rank,
                 fmt::format("was stopped ({}) for {}", signal_text(rank.stop_signal), seconds_text(stopped_bound)));
  }
}

std::optional<Milliseconds> RankProcesses::exchange_bound() const {
  std::optional<Milliseconds> bound;
  for (const Rank& rank : ranks_) {
    if (rank.sent) bound = std::max(bound.value_or(Milliseconds{}), Milliseconds(header_of(rank.arrived).bound_ms));
  }
  return bound;
}

std::vector<Message> RankProcesses::collect(Milliseconds stopped_bound) {
  Milliseconds waited{};
  for (auto last = Clock::now(); std::ranges::any_of(ranks_, &Rank::pending);) {
    receive_some();
    const auto since = std::chrono::duration_cast<Milliseconds>(Clock::now() - last);
    last += since;
    const Milliseconds passed = std::min(since, kMostPassed);
    const auto bound = exchange_bound();
    if (bound) waited += passed;
    for (Rank& rank : ranks_) {
      if (rank.socket >= 0) watch_stop(rank, stopped_bound, passed);
      if (rank.pending() && bound && waited >= *bound) {
        end_by_force(rank, fmt::format("was not heard of for {} while others waited for it", seconds_text(*bound)));
      }
    }
  }
  std::vector<Message> messages(ranks_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const std::vector<std::byte> arrived = std::exchange(ranks_[i].arrived, {});
    if (std::exchange(ranks_[i].sent, false)) messages[i].assign(arrived.begin() + sizeof(Header), arrived.end());
  }
  return messages;
}

void RankProcesses::answer(const std::vector<Message>& messages) const {
  for (const Rank& rank : ranks_) {
    if (rank.socket < 0) continue;
    for (const Message& message : messages) {
      if (!send_message(rank.socket, message, {})) break;  // it has ended; the next round tells
    }
  }
}

void RankProcesses::serve(Milliseconds stopped_bound, const std::function<void(std::span<const Message>)>& observe) {
  for (;;) {
    const std::vector<Message> messages = collect(stopped_bound);
    if (std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.socket < 0; })) return;
    observe(messages);
    answer(messages);
  }
}

}  // namespace monojit::tools
