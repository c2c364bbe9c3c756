#include <algorithm>
#include <barrier>
#include <filesystem>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/hip/device_error.h"
#include "runtime/jit.h"
#include "tests/runtime/fake_device.h"
#include "tests/runtime/jit_workshop.h"

namespace monojit::runtime {
namespace {

using cache::Source;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::FakeDevice;
using tests::kArch;
using tests::tiny_key;
using tests::tiny_record;
using tests::Workshop;

TEST_CASE("A key is built, then found in memory, then by the next process on disk") {
  Workshop workshop;
  Jit jit = workshop.jit();
  const Obtained built = jit.get(tiny_key(1), kArch);
  CHECK(built.source == Source::kBuilt);
  CHECK(built.times_ms.codegen == tiny_record().times_ms.codegen);
  const Obtained again = jit.get(tiny_key(1), kArch);
  CHECK(again.source == Source::kMemory);
  CHECK(again.kernel == built.kernel);

  const Obtained read = workshop.jit().get(tiny_key(1), kArch);
  CHECK(read.source == Source::kDisk);
  CHECK(read.times_ms.codegen == 0);
  CHECK(read.kernel->record == built.kernel->record);
  CHECK(*read.kernel->code_object == *built.kernel->code_object);
  CHECK(workshop.builder->builds == 1);
}

TEST_CASE("Keys and archs that differ are different kernels") {
  Workshop workshop;
  Jit jit = workshop.jit();
  const auto first = jit.get(tiny_key(1), kArch).kernel;
  CHECK(jit.get(tiny_key(2), kArch).kernel->record.symbol != first->record.symbol);
  CHECK(jit.get(tiny_key(1), "gfx942").source == Source::kBuilt);
  CHECK(workshop.builder->builds == 3);
}

TEST_CASE("Strict mode compiles nothing and says how to warm the key") {
  Workshop workshop;
  CHECK_THROWS_MATCHES(workshop.jit(true).get(tiny_key(3), kArch), NotCachedError,
                       MessageMatches(ContainsSubstring("tests.tiny{workgroups=3} for gfx950 is not in the cache") &&
                                      ContainsSubstring("monojit warm 'tests.tiny{workgroups=3}' --arch gfx950")));
  CHECK(workshop.builder->builds == 0);
  workshop.jit().get(tiny_key(3), kArch);
  CHECK(workshop.jit(true).get(tiny_key(3), kArch).source == Source::kDisk);
}

TEST_CASE("Another toolchain than the pinned one moves the process to its own entries") {
  Workshop workshop;
  workshop.jit().get(tiny_key(1), kArch);
  workshop.builder->toolchain_text = "llvm 99.0.0, comgr 9.9";

  Jit jit = workshop.jit();
  CHECK(jit.get(tiny_key(1), kArch).source == Source::kDisk);  // nothing had to be built: the pinned entry serves
  CHECK(jit.get(tiny_key(2), kArch).source == Source::kBuilt);
  CHECK(jit.toolchain() == "llvm 99.0.0, comgr 9.9");

  Jit next = workshop.jit();
  CHECK(next.get(tiny_key(2), kArch).source == Source::kDisk);  // a miss under the pinned id, a hit under the real one
  CHECK(workshop.builder->builds == 2);
}

TEST_CASE("A failed build reaches the caller and is tried again by the next") {
  Workshop workshop;
  Jit jit = workshop.jit();
  workshop.builder->fails = true;
  CHECK_THROWS_MATCHES(jit.get(tiny_key(1), kArch), std::runtime_error,
                       Catch::Matchers::Message("the compiler says no"));
  workshop.builder->fails = false;
  CHECK(jit.get(tiny_key(1), kArch).source == Source::kBuilt);
}

TEST_CASE("Threads that want one key at once share one build") {
  constexpr int kThreads = 64;
  Workshop workshop;
  Jit jit = workshop.jit();
  std::barrier start(kThreads);
  std::vector<std::shared_ptr<const CompiledKernel>> kernels(kThreads);
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      kernels[i] = jit.get(tiny_key(1), kArch).kernel;
    });
  }
  threads.clear();
  CHECK(workshop.builder->builds == 1);
  for (const auto& kernel : kernels) CHECK(kernel == kernels[0]);
}

TEST_CASE("A damaged entry is never served: it is warned of and built anew") {
  Workshop workshop;
  workshop.jit().get(tiny_key(1), kArch);
  const std::filesystem::path entry = workshop.only_entry();
  std::filesystem::resize_file(entry, std::filesystem::file_size(entry) - 1);
  CHECK(workshop.jit().get(tiny_key(1), kArch).source == Source::kBuilt);
  CHECK(!workshop.warnings.empty());
  CHECK(workshop.jit().get(tiny_key(1), kArch).source == Source::kDisk);
}

TEST_CASE("Strict mode tells a kernel that another release warmed from one that nobody did") {
  Workshop workshop;
  CHECK_THROWS_AS(workshop.jit(true).get(tiny_key(1), kArch), NotCachedError);
  workshop.builder->toolchain_text = "llvm-99.0/comgr-9.9";  // the kernel is stored under this one
  workshop.jit().get(tiny_key(1), kArch);
  CHECK_THROWS_MATCHES(
      workshop.jit(true).get(tiny_key(1), kArch), OtherVersionError,
      Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("llvm-99.0/comgr-9.9; this is")));
  CHECK_THROWS_AS(workshop.jit(true).get(tiny_key(2), kArch), NotCachedError);
}

TEST_CASE("A kernel is loaded once a device and launched from there") {
  const FakeDevice fake;
  Workshop workshop;
  Jit jit = workshop.jit();
  const auto loaded = jit.prepare(tiny_key(1), fake.device());
  CHECK(jit.prepare(tiny_key(1), fake.device()) == loaded);
  CHECK(fake.hip.loads == 1);
}

TEST_CASE("A cached kernel that the device refuses is built anew, once, with a warning") {
  const FakeDevice fake;
  Workshop workshop;
  workshop.jit().get(tiny_key(1), kArch);
  fake.hip.failing = "hipModuleLoadData";
  Jit jit = workshop.jit();
  CHECK_THROWS_AS(jit.prepare(tiny_key(1), fake.device()), DeviceError);
  CHECK_THAT(workshop.warnings, ContainsSubstring("hip:0 does not take the cached tests.tiny{workgroups=1}"));
  CHECK(workshop.builder->builds == 2);

  fake.hip.failing = nullptr;
  Obtained obtained;
  CHECK(jit.prepare(tiny_key(1), fake.device(), &obtained) != nullptr);
  CHECK(obtained.source == Source::kMemory);
}

/// Entry 1 with an image that no device takes, in a folder that is only read.
JitOptions with_shipped_scrap(Workshop& workshop) {
  JitOptions shipping = workshop.options();
  shipping.cache_folder = workshop.folder / "image";
  workshop.builder->code_object.resize(10);
  Jit(shipping).get(tiny_key(1), kArch);
  workshop.builder->builds = 0;
  JitOptions options = workshop.options();
  options.cache_folder = workshop.folder / "user";
  options.cache_settings.read_only = {shipping.cache_folder};
  return options;
}

TEST_CASE("A kernel of a read-only folder that is no image is built anew into the user's, once, with a warning") {
  const FakeDevice fake;
  Workshop workshop;
  const JitOptions options = with_shipped_scrap(workshop);
  workshop.builder->code_object.clear();
  Jit jit(options);
  REQUIRE(jit.get(tiny_key(1), kArch).source == Source::kReadOnly);
  Obtained obtained;
  CHECK(jit.prepare(tiny_key(1), fake.device(), &obtained) != nullptr);
  CHECK(obtained.source == Source::kBuilt);
  CHECK(obtained.stored);
  CHECK(jit.prepare(tiny_key(1), fake.device()) != nullptr);
  CHECK(workshop.builder->builds == 1);
  CHECK(std::ranges::count(workshop.warnings, '\n') == 1);
  CHECK(Jit(options).get(tiny_key(1), kArch).source == Source::kDisk);
}

TEST_CASE("A kernel that is no image even when it was built anew is an error, and not built again") {
  const FakeDevice fake;
  Workshop workshop;
  Jit jit(with_shipped_scrap(workshop));
  for (int attempt = 0; attempt < 2; ++attempt)
    CHECK_THROWS_AS(jit.prepare(tiny_key(1), fake.device()), CodeObjectError);
  CHECK(workshop.builder->builds == 1);
  CHECK(std::ranges::count(workshop.warnings, '\n') == 1);
}

TEST_CASE("Threads that meet one unusable kernel at once share one build of it, and one warning") {
  constexpr int kThreads = 16;
  const FakeDevice fake;
  Workshop workshop;
  const JitOptions options = with_shipped_scrap(workshop);
  workshop.builder->code_object.clear();
  Jit jit(options);
  const auto scrap = jit.get(tiny_key(1), kArch).kernel;
  std::barrier start(kThreads);
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      CHECK(jit.renew(*scrap, "scrap").has_value());
    });
  }
  threads.clear();
  CHECK(workshop.builder->builds == 1);
  CHECK(workshop.warnings == "scrap: building it anew\n");
}

TEST_CASE("A cached kernel that is no image is never shown to the device, but built anew, once, with a warning") {
  const FakeDevice fake;
  Workshop workshop;
  workshop.builder->code_object.resize(10);
  workshop.jit().get(tiny_key(1), kArch);
  CHECK_THROWS_AS(workshop.jit(true).prepare(tiny_key(1), fake.device()), NotCachedError);
  CHECK_THROWS_AS(workshop.jit().prepare(tiny_key(1), fake.device()), CodeObjectError);  // the new one is as bad
  CHECK(workshop.builder->builds == 2);
  CHECK(fake.hip.loads == 0);
  workshop.builder->code_object.clear();
  CHECK(workshop.jit().prepare(tiny_key(1), fake.device()) != nullptr);
  CHECK(workshop.builder->builds == 3);
  CHECK_THAT(workshop.warnings, ContainsSubstring("less than an ELF header): building it anew"));
}

TEST_CASE("Without a cache folder, kernels live in memory") {
  const Workshop workshop;
  JitOptions options;
  options.builder = workshop.builder;
  Jit jit(options);
  CHECK(jit.get(tiny_key(1), kArch).source == Source::kBuilt);
  CHECK(jit.get(tiny_key(1), kArch).source == Source::kMemory);
  CHECK(jit.disk() == nullptr);
}

}  // namespace
}  // namespace monojit::runtime
