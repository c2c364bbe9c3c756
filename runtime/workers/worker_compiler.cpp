#include "runtime/workers/worker_compiler.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/library_search.h"
#include "runtime/workers/worker_process.h"

namespace monojit::runtime {
namespace {

constexpr const char* kWorkerName = "monojit-worker";
constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;

std::filesystem::path find_worker() {
  std::vector<std::string> tried;
  for (const std::filesystem::path& path : library_candidates(kWorkerName)) {
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path;
    tried.push_back(path.string());
  }
  throw UserError(
      fmt::format("the worker {} is missing (looked for {}): set MONOJIT_LIBRARY_DIR to the folder that "
                  "holds it",
                  kWorkerName, fmt::join(tried, ", ")));
}

std::string out_of_memory(const std::string& what, std::uint64_t limit) {
  return fmt::format("{}: the worker that built it ran out of the {} MiB of memory that it may have", what,
                     limit / kMebi);
}

/// LLVM's and the C++ library's words for a failed allocation.
bool tells_of_memory(const std::string& ending) {
  return ending.find("out of memory") != std::string::npos || ending.find("bad_alloc") != std::string::npos ||
         ending.find("Cannot allocate memory") != std::string::npos;
}

}  // namespace

WorkerCompiler::WorkerCompiler(WorkerOptions options) : options_(std::move(options)) {}

WorkerCompiler::~WorkerCompiler() = default;

std::string WorkerCompiler::toolchain() {
  {
    const std::scoped_lock lock(mutex_);
    if (!toolchain_.empty()) return toolchain_;
  }
  std::string found = ask({{"toolchain", true}}, "the compiler", {}).at("toolchain").get<std::string>();
  const std::scoped_lock lock(mutex_);
  return toolchain_ = std::move(found);
}

BuiltKernel WorkerCompiler::build(const kernels::BuildKey& key, std::string_view arch, const StageCallback& on_stage) {
  const nlohmann::json reply =
      ask({{"key", key.text()}, {"digest", key.family().generator_digest}, {"arch", arch}}, key.text(), on_stage);
  BuiltKernel built;
  built.record = record_from_json(reply.at("record").get<std::string>());
  const nlohmann::json::binary_t& code = reply.at("code").get_binary();
  const auto* const bytes = reinterpret_cast<const std::byte*>(code.data());
  built.code_object.assign(bytes, bytes + code.size());
  return built;
}

void WorkerCompiler::cancel() {
  const std::scoped_lock lock(mutex_);
  ++epoch_;
  freed_.notify_all();
}

void WorkerCompiler::check(std::uint64_t epoch, const std::string& what) const {
  if (epoch_ != epoch) throw CancelledError(what + ": the build was cancelled");
}

std::unique_ptr<WorkerProcess> WorkerCompiler::take(std::uint64_t epoch, const std::string& what) {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [&] { return busy_ < options_.jobs || epoch_ != epoch; });
  check(epoch, what);
  ++busy_;
  if (idle_.empty()) return nullptr;
  std::unique_ptr<WorkerProcess> worker = std::move(idle_.back());
  idle_.pop_back();
  return worker;
}

void WorkerCompiler::give_back(std::unique_ptr<WorkerProcess> worker) {
  const std::scoped_lock lock(mutex_);
  --busy_;
  if (worker != nullptr) idle_.push_back(std::move(worker));
  freed_.notify_one();
}

nlohmann::json WorkerCompiler::ask(const nlohmann::json& request, const std::string& what,
                                   const StageCallback& on_stage) {
  const std::uint64_t epoch = epoch_;
  std::unique_ptr<WorkerProcess> worker = take(epoch, what);
  nlohmann::json reply;
  try {
    // One that was idle may have been killed meanwhile, which says nothing about this build.
    if (worker != nullptr && !worker->send(request)) worker.reset();
    if (worker == nullptr) {
      worker = std::make_unique<WorkerProcess>(options_.program.empty() ? find_worker() : options_.program,
                                               options_.memory_bytes);
      (void)worker->send(request);  // its end is noticed below
    }
    reply = converse(*worker, what, on_stage, epoch);
  } catch (...) {
    worker.reset();
    give_back(nullptr);
    throw;
  }
  note(reply);
  const std::string kind = reply.value("failure", "");
  // One that ran out of memory is worn out.
  give_back(kind == "memory" ? nullptr : std::move(worker));
  if (kind.empty()) return reply;
  const std::string text = reply.at("text").get<std::string>();
  if (kind == "memory") throw WorkerError(out_of_memory(what, options_.memory_bytes));
  if (kind == "user") throw UserError(text);
  if (kind == "internal") throw InternalCompilerError(text);
  throw CompileError(text);
}

nlohmann::json WorkerCompiler::converse(WorkerProcess& worker, const std::string& what, const StageCallback& on_stage,
                                        std::uint64_t epoch) const {
  cache::Deadline deadline(options_.deadline);
  while (auto frame = worker.receive(deadline, [&] { check(epoch, what); })) {
    if (!frame->contains("stage")) return *std::move(frame);
    if (on_stage) on_stage(frame->at("stage").get<std::string>());
  }
  if (deadline.over()) {
    throw WorkerError(fmt::format("{}: was not built in {} s, the deadline; its worker was killed", what,
                                  std::chrono::duration<double>(options_.deadline).count()));
  }
  const std::string ending = worker.end();
  if (tells_of_memory(ending)) throw WorkerError(out_of_memory(what, options_.memory_bytes));
  throw WorkerError(fmt::format("{}: the worker that built it {}", what, ending));
}

void WorkerCompiler::note(const nlohmann::json& reply) {
  const std::uint64_t bytes = reply.value("peak_bytes", std::uint64_t{0});
  std::uint64_t most = peak_bytes_;
  while (bytes > most && !peak_bytes_.compare_exchange_weak(most, bytes)) continue;
}

}  // namespace monojit::runtime
