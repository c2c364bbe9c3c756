#include "runtime/workers/worker_compiler.h"

#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cache/file.h"
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

/// Of each build, what the cache wants descriptors for: a lock, an entry's file, its folder.
constexpr int kDescriptorsOfABuild = 3;

/// Descriptors that are taken while a worker is started, so that it leaves as many to the rest of the process.
class Spare {
 public:
  explicit Spare(int count) {
    while (count-- > 0) {
      taken_.push_back(cache::open_file("/dev/null", O_RDONLY));
      if (!taken_.back().valid()) throw WorkerStartError(cache::error_text(errno));
    }
  }

 private:
  std::vector<cache::Descriptor> taken_;
};

}  // namespace

WorkerCompiler::WorkerCompiler(WorkerOptions options) : options_(std::move(options)), jobs_(options_.jobs) {}

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

/// A turn, with a worker that is idle, if there is one.
std::unique_ptr<WorkerProcess> WorkerCompiler::take(std::uint64_t epoch, const std::string& what) {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [&] { return busy_ < jobs_ || epoch_ != epoch; });
  check(epoch, what);
  ++busy_;
  if (idle_.empty()) return nullptr;
  std::unique_ptr<WorkerProcess> worker = std::move(idle_.back());
  idle_.pop_back();
  return worker;
}

void WorkerCompiler::bury(std::unique_ptr<WorkerProcess> worker) {
  worker.reset();
  const std::scoped_lock lock(mutex_);
  --alive_;
}

void WorkerCompiler::end_turn(std::unique_ptr<WorkerProcess> worker) {
  const std::scoped_lock lock(mutex_);
  if (--busy_ == 0) jobs_ = options_.jobs;  // a shortage may be over
  if (worker != nullptr) idle_.push_back(std::move(worker));
  freed_.notify_one();
}

bool WorkerCompiler::has_worker() {
  const std::scoped_lock lock(mutex_);
  return alive_ > 0;
}

/// Nothing when this process can't start more than it has: from now on there are as many turns as those.
std::unique_ptr<WorkerProcess> WorkerCompiler::start() {
  const std::scoped_lock one_at_a_time(start_mutex_);
  const std::filesystem::path program = options_.program.empty() ? find_worker() : options_.program;
  try {
    const Spare spare(has_worker() ? kDescriptorsOfABuild * options_.jobs : 0);  // the first one is worth any price
    auto worker = std::make_unique<WorkerProcess>(program, options_.memory_bytes);
    const std::scoped_lock lock(mutex_);
    ++alive_;
    return worker;
  } catch (const WorkerStartError&) {
    const std::scoped_lock lock(mutex_);
    if (alive_ == 0) throw;
    jobs_ = alive_;
    return nullptr;
  }
}

/// One that has the request, with a turn.
std::unique_ptr<WorkerProcess> WorkerCompiler::worker_for(const nlohmann::json& request, std::uint64_t epoch,
                                                          const std::string& what) {
  for (;;) {
    std::unique_ptr<WorkerProcess> worker = take(epoch, what);
    // One that was idle may have been killed meanwhile, which says nothing about this build.
    if (worker != nullptr && worker->send(request)) return worker;
    if (worker != nullptr) bury(std::move(worker));
    try {
      worker = start();
    } catch (const WorkerStartError& error) {
      end_turn(nullptr);
      throw WorkerError(fmt::format("{}: {}", what, error.what()));
    } catch (...) {
      end_turn(nullptr);
      throw;
    }
    if (worker != nullptr) {
      (void)worker->send(request);  // its end is noticed by who listens to it
      return worker;
    }
    end_turn(nullptr);
  }
}

nlohmann::json WorkerCompiler::ask(const nlohmann::json& request, const std::string& what,
                                   const StageCallback& on_stage) {
  const std::uint64_t epoch = epoch_;
  std::unique_ptr<WorkerProcess> worker = worker_for(request, epoch, what);
  nlohmann::json reply;
  try {
    reply = converse(*worker, what, on_stage, epoch);
  } catch (...) {
    bury(std::move(worker));
    end_turn(nullptr);
    throw;
  }
  note(reply);
  const std::string kind = reply.value("failure", "");
  if (kind == "memory") bury(std::exchange(worker, nullptr));  // it is worn out
  end_turn(std::move(worker));
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
