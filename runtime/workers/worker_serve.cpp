#include "runtime/workers/worker_serve.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/compiler/compiler_loader.h"
#include "runtime/peak_memory.h"
#include "runtime/workers/frame.h"

namespace monojit::runtime {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kSocket = STDIN_FILENO;
/// Address space beyond what may be allocated: LLVM's and comgr's libraries, stacks, reserved heaps.
constexpr std::uint64_t kMappings = std::uint64_t{2} << 30;

void limit(__rlimit_resource resource, std::uint64_t value) {
  rlimit limits{};
  if (getrlimit(resource, &limits) != 0) return;
  limits.rlim_cur = std::min<rlim_t>(value, limits.rlim_max);
  (void)setrlimit(resource, &limits);
}

void send(const Frame& frame) {
  if (!send_all(kSocket, encode_frame(frame))) _exit(kFailed);  // nobody is there to hear of it
}

/// A build can't look at the socket: this thread ends the process when the engine's has gone.
void end_with_the_engine() {
  std::thread([] {
    pollfd watched{.fd = kSocket, .events = POLLRDHUP, .revents = 0};
    while (poll(&watched, 1, -1) < 0 && errno == EINTR) continue;
    _exit(kDone);
  }).detach();
}

Frame build(KernelBuilder& builder, const Frame& request) {
  const auto key = kernels::BuildKey::parse(request.at("key").get<std::string>());
  if (key.family().generator_digest != request.at("digest").get<std::string>()) {
    throw UserError(
        fmt::format("the worker was built from other sources of {} than this program: install both from "
                    "one build",
                    key.family().name));
  }
  const BuiltKernel built = builder.build(key, request.at("arch").get<std::string>(),
                                          [](std::string_view stage) { send({{"stage", stage}}); });
  const auto* const code = reinterpret_cast<const std::uint8_t*>(built.code_object.data());
  return {{"record", to_json_text(built.record)},
          {"code", Frame::binary(std::vector<std::uint8_t>(code, code + built.code_object.size()))}};
}

Frame answer(KernelBuilder& builder, const Frame& request) {
  if (request.contains("toolchain")) return {{"toolchain", builder.toolchain()}};
  return build(builder, request);
}

Frame failure(const char* kind, const char* text) { return {{"failure", kind}, {"text", text}}; }

void serve(const Frame& request, const std::function<std::shared_ptr<KernelBuilder>()>& open) {
  Frame reply;
  try {
    reply = answer(*open(), request);
  } catch (const std::bad_alloc&) {
    reply = failure("memory", "");
  } catch (const UserError& error) {
    reply = failure("user", error.what());
  } catch (const InternalCompilerError& error) {
    const bool memory = std::string_view(error.what()).ends_with("std::bad_alloc");
    reply = failure(memory ? "memory" : "internal", error.what());
  } catch (const std::exception& error) {
    reply = failure("build", error.what());
  }
  reply["peak_bytes"] = peak_memory();
  send(reply);
}

}  // namespace

int serve_builds(int count, char** arguments, const std::function<std::shared_ptr<KernelBuilder>()>& open) {
  std::uint64_t memory = 0;
  const std::string_view text = count == 2 ? arguments[1] : "";
  if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), memory);
      error != std::errc() || end != text.data() + text.size() || memory == 0) {
    (void)std::fputs("monojit-worker is started by monojit: it builds kernels for it\n", stderr);
    return kFailed;
  }
  std::signal(SIGINT, SIG_IGN);  // of the terminal: the engine decides what becomes of its workers
  limit(RLIMIT_CORE, 0);
  if (kWorkerMemoryIsLimited) {
    limit(RLIMIT_DATA, memory);
    limit(RLIMIT_AS, memory + kMappings);
  }
  (void)dup2(STDERR_FILENO, STDOUT_FILENO);
  FrameReader frames;
  std::array<std::byte, 4096> bytes;
  end_with_the_engine();
  for (;;) {
    const ssize_t got = recv(kSocket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return kDone;
    frames.add(std::span(bytes).first(static_cast<std::size_t>(got)));
    while (const auto request = frames.next()) serve(*request, open);
  }
}

}  // namespace monojit::runtime
