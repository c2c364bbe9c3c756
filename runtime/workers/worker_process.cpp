#include "runtime/workers/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/file.h"
#include "kernels/common/error.h"

namespace monojit::runtime {
namespace {

/// How late a cancellation may be.
constexpr std::chrono::milliseconds kTick(20);
constexpr std::size_t kLastWords = 2000;

/// Two ends that no program started elsewhere inherits.
struct Ends {
  int here = -1;
  int there = -1;
};

/// posix_spawn's ways to say what a child starts with.
class SpawnSetup {
 public:
  SpawnSetup(int input, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  /// `folder` is for temporary files.
  int spawn(pid_t& process, const std::filesystem::path& program, const std::string& argument,
            const std::filesystem::path& folder) const {
    std::string name = program.string();
    std::string text = argument;
    std::string temporary = "TMPDIR=" + folder.string();
    std::array<char*, 3> arguments = {name.data(), text.data(), nullptr};
    std::vector<char*> variables = {temporary.data()};
    for (char* const* variable = environ; *variable != nullptr; ++variable) {
      if (!std::string_view(*variable).starts_with("TMPDIR=")) variables.push_back(*variable);
    }
    variables.push_back(nullptr);
    return posix_spawn(&process, program.c_str(), &actions_, &attributes_, arguments.data(), variables.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM || error == ENOBUFS;
}

std::string ending(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace

WorkerProcess::WorkerProcess(const std::filesystem::path& program, std::uint64_t memory_bytes) {
  int sockets[2] = {-1, -1};
  int pipes[2] = {-1, -1};
  int failed = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 ? errno : 0;
  if (failed == 0) failed = pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0 ? errno : 0;
  if (failed == 0)
    failed = SpawnSetup(sockets[1], pipes[1]).spawn(process_, program, std::to_string(memory_bytes), folder_.path());
  for (const int end : {sockets[1], pipes[1]}) {
    if (end >= 0) (void)close(end);
  }
  socket_ = sockets[0];
  errors_ = pipes[0];
  if (failed == 0) return;
  for (const int end : {socket_, errors_}) {
    if (end >= 0) (void)close(end);
  }
  const std::string text =
      fmt::format("the worker {} can't be started: {}", program.string(), cache::error_text(failed));
  if (is_shortage(failed)) throw WorkerStartError(text);
  throw UserError(text);
}

WorkerProcess::~WorkerProcess() {
  (void)end();
  (void)close(socket_);
  (void)close(errors_);
}

bool WorkerProcess::send(const Frame& frame) { return send_all(socket_, encode_frame(frame)); }

std::optional<Frame> WorkerProcess::receive(cache::Deadline& deadline, const std::function<void()>& check) {
  std::array<std::byte, 65536> bytes;
  for (;;) {
    try {
      if (auto frame = frames_.next()) return frame;
    } catch (const std::exception&) {
      return std::nullopt;
    }
    check();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.left());
    if (left.count() <= 0) return std::nullopt;
    std::array<pollfd, 2> watched = {pollfd{.fd = socket_, .events = POLLIN, .revents = 0},
                                     pollfd{.fd = errors_, .events = POLLIN, .revents = 0}};
    (void)poll(watched.data(), watched.size(), static_cast<int>(std::min(left, kTick).count()));
    if (watched[1].revents != 0) read_errors();
    if (watched[0].revents == 0) continue;
    const ssize_t got = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return std::nullopt;
    frames_.add(std::span(bytes).first(static_cast<std::size_t>(got)));
  }
}

void WorkerProcess::read_errors() {
  std::array<char, 4096> text;
  for (ssize_t got = 0; (got = read(errors_, text.data(), text.size())) > 0;) {
    last_words_.append(text.data(), static_cast<std::size_t>(got));
    if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
  }
}

std::string WorkerProcess::end() {
  if (process_ < 0) return {};
  // One that closed its end by itself is about to end by itself, and how it does is what is asked for.
  constexpr int kPatienceMs = 1000;
  pollfd watched{.fd = socket_, .events = POLLRDHUP, .revents = 0};
  const bool closed = poll(&watched, 1, 0) > 0 && (watched.revents & (POLLRDHUP | POLLHUP)) != 0;
  int status = 0;
  pid_t reaped = 0;
  for (int waited = 0; closed && reaped == 0 && waited < kPatienceMs; ++waited) {
    reaped = waitpid(process_, &status, WNOHANG);
    if (reaped == 0) (void)poll(nullptr, 0, 1);
  }
  if (reaped == 0) {
    (void)kill(process_, SIGKILL);
    while ((reaped = waitpid(process_, &status, 0)) < 0 && errno == EINTR) continue;
  }
  read_errors();
  process_ = -1;
  while (last_words_.ends_with('\n')) last_words_.pop_back();
  // An engine that reaps every child took the status away.
  std::string text = reaped < 0 ? "ended" : ending(status);
  if (!last_words_.empty()) text += ": " + last_words_;
  return text;
}

}  // namespace monojit::runtime
