#include "tools/rank_processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/workers/frame.h"

namespace monojit::tools {
namespace {

using Message = RankProcesses::Message;

constexpr int kFailed = 1;
constexpr std::size_t kThrownBytes = 16384;  // of a text

bool receive_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

// A message is its length and its bytes.
bool send_message(int socket, std::span<const std::byte> message) {
  const std::uint64_t length = message.size();
  return runtime::send_all(socket, std::as_bytes(std::span(&length, 1))) && runtime::send_all(socket, message);
}

std::optional<Message> receive_message(int socket) {
  std::uint64_t length = 0;
  if (!receive_all(socket, std::as_writable_bytes(std::span(&length, 1)))) return std::nullopt;
  Message message(length);
  if (!receive_all(socket, message)) return std::nullopt;
  return message;
}

void keep(std::string_view text, std::span<std::byte> memory) {
  std::memcpy(memory.data(), text.data(), std::min(text.size(), memory.size() - 1));
}

[[noreturn]] void run_rank(int rank, int ranks, int socket, const RankProcesses::Body& body,
                           std::span<std::byte> thrown) {
  const runtime::Gather gather = [&](std::span<const std::byte> own) {
    if (!send_message(socket, own)) throw std::runtime_error("the exchange between the ranks has ended");
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
  ranks_[static_cast<std::size_t>(rank)].process = process;
  ranks_[static_cast<std::size_t>(rank)].socket = ends[0];
}

void RankProcesses::end(Rank& rank) {
  (void)close(std::exchange(rank.socket, -1));
  int status = 0;
  while (waitpid(rank.process, &status, 0) < 0 && errno == EINTR) continue;
  rank.process = -1;
  rank.failure = failure_of(status, rank.thrown);
}

RankProcesses::~RankProcesses() {
  for (Rank& rank : ranks_) {
    if (rank.process < 0) continue;
    (void)kill(rank.process, SIGKILL);
    end(rank);
  }
}

void RankProcesses::serve(const std::function<void(std::span<const Message>)>& observe) {
  for (;;) {
    std::vector<Message> messages(ranks_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i].socket < 0) continue;
      if (auto message = receive_message(ranks_[i].socket)) {
        messages[i] = *std::move(message);
      } else {
        end(ranks_[i]);
      }
    }
    if (std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.socket < 0; })) return;
    observe(messages);
    for (const Rank& rank : ranks_) {
      if (rank.socket < 0) continue;
      for (const Message& message : messages) {
        if (!send_message(rank.socket, message)) break;  // it has ended; the next round tells
      }
    }
  }
}

}  // namespace monojit::tools
