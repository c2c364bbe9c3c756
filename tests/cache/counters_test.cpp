// Counts that survive processes, and files of counts that are no such thing.

#include <chrono>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>

#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;
using testing::example_output;
using testing::ScratchFolder;
using testing::start_child;
using testing::wait_for_child;

constexpr const char* kFamily = "minimax_m3.k1";

std::uint64_t count_of(const std::filesystem::path& folder, const std::string& name) {
  return Counters::read(folder)[kFamily][name];
}

TEST_CASE("a build, a hit and a miss are counted by family") {
  const ScratchFolder scratch;
  const auto folder = scratch / "cache";
  Cache(testing::in_folder(folder)).get_or_build(example_key(1), [] { return example_output(1); });
  {
    Cache cache(testing::in_folder(folder));
    REQUIRE(cache.lookup(example_key(1)));
    REQUIRE(cache.lookup(example_key(1)));  // from memory: no look-up
    REQUIRE_FALSE(cache.lookup(example_key(2)));
  }
  CHECK(count_of(folder, "builds") == 1);
  CHECK(count_of(folder, "disk_hits") == 1);
  CHECK(count_of(folder, "misses") == 2);
  CHECK(count_of(folder, "bytes_read") == example_entry(1).code_object.size());
  CHECK(count_of(folder, "bytes_stored") == example_entry(1).code_object.size());
  CHECK(Counters::reset(folder) == 0);
  CHECK(Counters::read(folder).empty());
  CHECK(Counters::reset(folder) == 0);
}

TEST_CASE("processes at once lose no count, also while the lines are summed up") {
  constexpr int kProcesses = 6;
  constexpr int kFlushes = 1000;  // enough lines for several sums
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch / "tmp");
  std::vector<int> children;
  children.reserve(kProcesses);
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(start_child([&] {
      Counters counters(scratch.path(), {});
      for (int i = 0; i < kFlushes; ++i) {
        counters.add(kFamily, Count::kDiskHits);
        counters.add(kFamily, Count::kBytesRead, 1000);
        counters.flush();
      }
      return 0;
    }));
  }
  for (const int child : children) CHECK(wait_for_child(child) == 0);
  CHECK(count_of(scratch.path(), "disk_hits") == kProcesses * kFlushes);
  CHECK(count_of(scratch.path(), "bytes_read") == kProcesses * kFlushes * 1000);
  CHECK(std::filesystem::file_size(scratch / "counters") < 100'000);
}

TEST_CASE("lines that are torn, foreign or damaged are left out, and the next count is not lost with them") {
  const ScratchFolder scratch;
  testing::write_text(
      scratch / "counters",
      "minimax_m3.k1 builds=2 .\n\xff\x01 rubbish .\nminimax_m3.k1 builds=x later=7 .\nminimax_m3.k1 bui");
  Counters(scratch.path(), {}).add(kFamily, Count::kBuilds, 3);
  CHECK(count_of(scratch.path(), "builds") == 5);
  CHECK(count_of(scratch.path(), "later") == 7);
}

TEST_CASE("a process that stands still with the file locked delays nobody for long") {
  const ScratchFolder scratch;
  const auto file = scratch / "counters";
  const FileLock lock(file, FileLock::Wait::kForever);
  const auto start = std::chrono::steady_clock::now();
  Counters(scratch.path(), {}).add(kFamily, Count::kBuilds);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("what stands in the place of the file of counts costs nothing, and what a link leads to stays as it is") {
  const ScratchFolder scratch;
  const auto folder = scratch / "cache";
  std::filesystem::create_directories(folder);
  testing::write_text(scratch / "precious", "precious");
  SECTION("a folder") { std::filesystem::create_directory(folder / "counters"); }
  SECTION("a link") { std::filesystem::create_symlink(scratch / "precious", folder / "counters"); }
  SECTION("a pipe") { REQUIRE(::mkfifo((folder / "counters").c_str(), 0600) == 0); }
  testing::WarningLog log;
  Cache cache({.folder = folder, .warn = log.callback()});
  CHECK(cache.get_or_build(example_key(1), [] { return example_output(1); }).stored);
  CHECK(log.lines().empty());
  CHECK(count_of(folder, "builds") == 1);
  CHECK(testing::read_bytes(scratch / "precious").size() == 8);
}

}  // namespace
}  // namespace monojit::cache
