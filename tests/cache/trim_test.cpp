// Size and age limits.

#include <array>
#include <ctime>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;
using testing::ScratchFolder;
using testing::WarningLog;

constexpr std::int64_t kHour = 3600;

void set_used(const std::filesystem::path& file, std::int64_t seconds) {
  const std::array<timespec, 2> times = {timespec{.tv_sec = seconds, .tv_nsec = 0},
                                         timespec{.tv_sec = seconds, .tv_nsec = 0}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) == 0);
}

std::int64_t used(const std::filesystem::path& file) {
  struct stat status{};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  return status.st_mtime;
}

/// A folder with entries 1 to `count`; n was used n hours ago.
struct Fixture {
  explicit Fixture(int count) : now(now_s()) {
    for (int n = 1; n <= count; ++n) {
      REQUIRE(store.store(example_entry(n)));
      set_used(file(n), now - n * kHour);
    }
    entry_bytes = std::filesystem::file_size(file(1));
  }
  std::filesystem::path file(int number) const { return store.file_of(example_key(number).digest()); }
  /// The numbers up to 9 whose entries are there, as digits.
  std::string kept() const {
    std::string numbers;
    for (int n = 1; n <= 9; ++n) {
      if (std::filesystem::exists(file(n))) numbers += std::to_string(n);
    }
    return numbers;
  }

  ScratchFolder scratch;
  WarningLog log;
  Warnings warnings{log.callback()};
  DiskStore store{scratch / "cache", warnings};
  std::int64_t now;
  std::uint64_t entry_bytes = 0;
};

TEST_CASE("a trim keeps what was used last, as much as fits") {
  Fixture fixture(6);
  const Trimmed trimmed = fixture.store.trim({.max_bytes = 4 * fixture.entry_bytes, .max_age_s = 0});
  CHECK(fixture.kept() == "1234");
  CHECK(trimmed.removed.entries == 2);
  CHECK(trimmed.removed.bytes == 2 * fixture.entry_bytes);
  CHECK(trimmed.removed.failed == 0);
  CHECK(trimmed.kept_entries == 4);
  CHECK(trimmed.kept_bytes == 4 * fixture.entry_bytes);
}

TEST_CASE("a trim removes what was not used for too long, however small the cache") {
  Fixture fixture(6);
  CHECK(fixture.store.trim({.max_bytes = 0, .max_age_s = 3 * kHour + 60}).removed.entries == 3);
  CHECK(fixture.kept() == "123");
}

TEST_CASE("without limits nothing goes") {
  Fixture fixture(3);
  CHECK(fixture.store.trim({}).removed.entries == 0);
  CHECK(fixture.kept() == "123");
}

TEST_CASE("a hit makes an entry young again, and a second hit soon after writes nothing") {
  Fixture fixture(3);
  REQUIRE(fixture.store.lookup(example_key(3)));
  const std::int64_t touched = used(fixture.file(3));
  CHECK(touched >= fixture.now);
  fixture.store.trim({.max_bytes = 2 * fixture.entry_bytes, .max_age_s = 0});
  CHECK(fixture.kept() == "13");
  set_used(fixture.file(3), fixture.now - kUseGrain / 2);
  REQUIRE(fixture.store.lookup(example_key(3)));
  CHECK(used(fixture.file(3)) == fixture.now - kUseGrain / 2);
}

TEST_CASE("a time that lies ahead counts as now, and a hit puts it right") {
  Fixture fixture(3);
  set_used(fixture.file(3), fixture.now + 1000 * kHour);
  fixture.store.trim({.max_bytes = 2 * fixture.entry_bytes, .max_age_s = kHour / 2});
  CHECK(fixture.kept() == "3");
  REQUIRE(fixture.store.lookup(example_key(3)));
  CHECK(used(fixture.file(3)) <= now_s());
}

TEST_CASE("a trim sweeps what killed writers left, and leaves foreign files alone") {
  Fixture fixture(1);
  testing::write_text(fixture.scratch / "cache/tmp/dead.tmp", "half");
  testing::write_text(fixture.scratch / "cache/entries/README", "hands off");
  fixture.store.trim({.max_bytes = 1, .max_age_s = 0});
  CHECK_FALSE(std::filesystem::exists(fixture.scratch / "cache/tmp/dead.tmp"));
  CHECK(std::filesystem::exists(fixture.scratch / "cache/entries/README"));
  CHECK(fixture.kept().empty());
}

TEST_CASE("a folder in an entry's place goes with a trim too") {
  Fixture fixture(1);
  std::filesystem::remove(fixture.file(1));
  std::filesystem::create_directories(fixture.file(1) / "below");
  CHECK(fixture.store.trim({.max_bytes = 1, .max_age_s = 0}).removed.entries == 1);
  CHECK_FALSE(std::filesystem::exists(fixture.file(1)));
}

TEST_CASE("an entry that a reader holds is whole after it was evicted") {
  Fixture fixture(1);
  const Descriptor open = open_file(fixture.file(1), O_RDONLY);
  fixture.store.trim({.max_bytes = 1, .max_age_s = 0});
  CHECK(fixture.kept().empty());
  const auto bytes = testing::read_bytes("/proc/self/fd/" + std::to_string(open.get()));
  CHECK(std::holds_alternative<Entry>(decode_for(example_key(1), bytes)));
}

TEST_CASE("stores keep a folder below its limit by themselves") {
  constexpr int kStores = 60;
  constexpr int kFitting = 10;
  const ScratchFolder scratch;
  const std::uint64_t entry_bytes = encode(example_entry(10)).size();
  const std::uint64_t limit = kFitting * entry_bytes;
  const Warnings warnings(nullptr);
  DiskStore store(scratch / "cache", warnings, {.modes = {}, .limits = {.max_bytes = limit, .max_age_s = 0}});
  for (int n = 10; n < 10 + kStores; ++n) {
    REQUIRE(store.store(example_entry(n)));
    CHECK(take_inventory(store.folder()).files.size() <= kFitting);
  }
  CHECK(take_inventory(store.folder()).files.size() >= kFitting / 2);
}

TEST_CASE("processes that store little each look at the limits only every few minutes") {
  Fixture fixture(3);
  const StoreOptions options{.modes = {}, .limits = {.max_bytes = 0, .max_age_s = 3 * kHour / 2}};
  REQUIRE(DiskStore(fixture.store.folder(), fixture.warnings, options).store(example_entry(7)));
  CHECK(fixture.kept() == "17");
  set_used(fixture.file(1), fixture.now - 3 * kHour);
  REQUIRE(DiskStore(fixture.store.folder(), fixture.warnings, options).store(example_entry(8)));
  CHECK(fixture.kept() == "178");
  set_used(fixture.store.folder() / "trimmed", fixture.now - kHour);
  REQUIRE(DiskStore(fixture.store.folder(), fixture.warnings, options).store(example_entry(9)));
  CHECK(fixture.kept() == "789");
}

}  // namespace
}  // namespace monojit::cache
