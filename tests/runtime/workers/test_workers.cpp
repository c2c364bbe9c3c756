#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/jit.h"
#include "runtime/workers/worker_compiler.h"
#include "runtime/workers/worker_serve.h"
#include "tests/runtime/workers/misbehaviour.h"
#include "toolchain_id.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using std::chrono::milliseconds;
using tests::Misbehaviour;

constexpr const char* kArch = "gfx950";
constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;

kernels::BuildKey key_of(Misbehaviour way, int hidden = 512) {
  return kernels::BuildKey::parse(fmt::format("example.row_norm{{rows={},hidden={}}}", static_cast<int>(way), hidden));
}

WorkerOptions misbehaving(int jobs = 1) {
  WorkerOptions options;
  options.jobs = jobs;
  options.memory_bytes = 512 * kMebi;
  options.program = MONOJIT_MISBEHAVING_WORKER;
  return options;
}

/// The text of the WorkerError that building `way` gives; it begins with the key's text.
std::string error_of(WorkerCompiler& compiler, Misbehaviour way) {
  try {
    compiler.build(key_of(way), kArch);
  } catch (const WorkerError& error) {
    CHECK_THAT(error.what(), StartsWith(key_of(way).text() + ": "));
    return error.what();
  }
  return "it was built";
}

std::string maps() {
  std::ifstream file("/proc/self/maps");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("A worker builds the bytes that this process would, and LLVM stays out of it") {
  const auto key = kernels::BuildKey::parse("example.row_norm{rows=4,hidden=512}");
  WorkerCompiler workers({});
  std::vector<std::string> stages;
  const BuiltKernel built = workers.build(key, kArch, [&](std::string_view stage) { stages.emplace_back(stage); });
  CHECK(workers.toolchain() == kPinnedToolchain);
  CHECK(workers.peak_bytes() > kMebi);
  CHECK(stages.front() == "emitting IR");
  CHECK(stages.back() == "checking the code");

  const BuiltKernel here = Compiler::open()->build(key, kArch);
  CHECK(built.code_object == here.code_object);
  KernelRecord record = built.record;
  record.times_ms = here.record.times_ms;
  CHECK(record == here.record);
}

TEST_CASE("What the compiler refuses is what it would be in this process") {
  WorkerCompiler workers({});
  CHECK_THROWS_AS(workers.build(kernels::BuildKey::parse("example.row_norm{rows=4,hidden=512}"), "gfx1100"), UserError);
  WorkerCompiler refusing(misbehaving());
  CHECK_THROWS_MATCHES(refusing.build(key_of(Misbehaviour::kRefuse), kArch), CompileError,
                       Catch::Matchers::Message("the compiler says no"));
}

TEST_CASE(
    "A worker that ends in the middle of a build is an error with the key and the reason, and the next build goes on") {
  WorkerCompiler workers(misbehaving());
  CHECK_THAT(error_of(workers, Misbehaviour::kAbort), ContainsSubstring("was killed by signal 6"));
  CHECK_THAT(error_of(workers, Misbehaviour::kKilled), ContainsSubstring("was killed by signal 9"));
  CHECK_THAT(error_of(workers, Misbehaviour::kHalfAnAnswer), ContainsSubstring("ended with code 0"));
  CHECK_THAT(error_of(workers, Misbehaviour::kNonsense), ContainsSubstring("was killed"));
  CHECK_THAT(error_of(workers, Misbehaviour::kLlvmGivesUp),
             ContainsSubstring("LLVM gave up: no such instruction (synthetic)"));
  CHECK(workers.build(key_of(Misbehaviour::kNone), kArch).code_object.size() == 100);
}

TEST_CASE("A worker that wants more memory than it may have is an error that says how much that is") {
  if (!kWorkerMemoryIsLimited) SKIP("a sanitizer's build has no limits");
  WorkerCompiler workers(misbehaving());
  CHECK_THAT(error_of(workers, Misbehaviour::kAllocate), ContainsSubstring("ran out of the 512 MiB of memory"));
  CHECK(workers.peak_bytes() < 1024 * kMebi);
  CHECK(workers.peak_bytes() > 256 * kMebi);
}

TEST_CASE("LLVM itself runs out of memory without harm to this process") {
  if (!kWorkerMemoryIsLimited) SKIP("a sanitizer's build has no limits");
  WorkerOptions options;
  options.memory_bytes = 24 * kMebi;
  WorkerCompiler workers(options);
  CHECK_THROWS_MATCHES(workers.build(kernels::BuildKey::parse("kimi_k3.k2{tokens=8,nblocks=8}"), kArch), WorkerError,
                       MessageMatches(ContainsSubstring("kimi_k3.k2{") && ContainsSubstring("24 MiB of memory")));
}

TEST_CASE("A build that runs past its deadline is an error, and its worker is killed") {
  WorkerOptions options = misbehaving();
  options.deadline =
      std::chrono::seconds(5);  // a worker of a busy machine, or of a sanitizer's build, takes a while to start
  WorkerCompiler workers(options);
  CHECK_THAT(error_of(workers, Misbehaviour::kHang), ContainsSubstring("was not built in 5 s, the deadline"));
  CHECK(workers.build(key_of(Misbehaviour::kNone), kArch).code_object.size() == 100);
}

TEST_CASE("Other builds go on while one goes wrong") {
  WorkerOptions options = misbehaving(2);
  options.deadline = std::chrono::seconds(5);
  WorkerCompiler workers(options);
  std::jthread hanging([&] { CHECK_THROWS_AS(workers.build(key_of(Misbehaviour::kHang), kArch), WorkerError); });
  for (int i = 1; i <= 8; ++i) {
    CHECK(workers.build(key_of(Misbehaviour::kNone, 512 * i), kArch).code_object.size() == 100);
    CHECK_THROWS_AS(workers.build(key_of(Misbehaviour::kAbort, 512 * i), kArch), WorkerError);
  }
}

TEST_CASE("Builds are cancelled from another thread, those that wait for their turn too, and later ones run") {
  WorkerCompiler workers(misbehaving());
  std::atomic<bool> started = false;
  std::jthread running([&] {
    CHECK_THROWS_AS(workers.build(key_of(Misbehaviour::kHang), kArch, [&](std::string_view) { started = true; }),
                    CancelledError);
  });
  while (!started) std::this_thread::yield();
  std::atomic<bool> ended = false;
  std::jthread waiting([&] {
    CHECK_THROWS_AS(workers.build(key_of(Misbehaviour::kHang), kArch), CancelledError);
    ended = true;
  });
  while (!ended) {  // on a busy machine it may begin after the first cancel
    std::this_thread::sleep_for(milliseconds(50));
    workers.cancel();
  }
  running.join();
  waiting.join();
  CHECK(workers.build(key_of(Misbehaviour::kNone), kArch).code_object.size() == 100);
}

TEST_CASE("Nothing of a build that went wrong is stored, and the same key is built by the next") {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("monojit_workers_{}", getpid());
  JitOptions options;
  options.cache_folder = folder;
  options.builder = std::make_shared<WorkerCompiler>(misbehaving());
  for (const auto way : {Misbehaviour::kAbort, Misbehaviour::kHalfAnAnswer, Misbehaviour::kAllocate}) {
    CHECK_THROWS_AS(Jit(options).get(key_of(way), kArch), WorkerError);
  }
  std::size_t files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
    files += file.path().extension() == ".mono" ? 1 : 0;
  CHECK(files == 0);
  CHECK(Jit(options).get(key_of(Misbehaviour::kNone), kArch).stored);
  std::filesystem::remove_all(folder);
}

TEST_CASE("A missing worker is the user's error, with its path") {
  WorkerOptions options;
  options.program = "/nonexistent/monojit-worker";
  WorkerCompiler workers(options);
  CHECK_THROWS_MATCHES(workers.toolchain(), UserError,
                       MessageMatches(ContainsSubstring("/nonexistent/monojit-worker")));
}

TEST_CASE("A Jit with workers never maps LLVM or comgr") {
  // The case above that compares builds may have run in this process: only what this one adds counts.
  const std::string before = maps();
  JitOptions options;
  options.builder = std::make_shared<WorkerCompiler>(WorkerOptions{});
  CHECK(Jit(options).get(kernels::BuildKey::parse("example.row_norm{rows=8,hidden=512}"), kArch).source ==
        cache::Source::kBuilt);
  if (before.find("libamd_comgr") == std::string::npos) {
    CHECK_THAT(maps(), !ContainsSubstring("libmonojit_codegen") && !ContainsSubstring("libamd_comgr"));
  }
}

}  // namespace
}  // namespace monojit::runtime
