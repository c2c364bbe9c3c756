// Read-only folders and archives below the user's folder.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::example_entry;
using testing::example_key;
using testing::example_output;
using testing::ScratchFolder;
using testing::source_of;
using testing::WarningLog;

/// A folder with entry 1, an archive with entries 1 and 2, and a user's folder with none.
struct Shipped {
  Shipped() {
    const Warnings warnings(nullptr);
    REQUIRE(DiskStore(scratch / "image", warnings).store(example_entry(1)));
    testing::write_archive(scratch / "pack",
                           {{example_key(1), encode(example_entry(1))}, {example_key(2), encode(example_entry(2))}});
  }
  CacheOptions options(bool strict = false) {
    return {.folder = scratch / "user",
            .warn = log.callback(),
            .strict = strict,
            .settings = {.read_only = {scratch / "image", scratch / "pack"}}};
  }
  ScratchFolder scratch;
  WarningLog log;
};

TEST_CASE("a key is looked up in the user's folder, then in each read-only place, then built") {
  Shipped shipped;
  Cache cache(shipped.options());
  CHECK(cache.get_or_build(example_key(1), [] { return BuildOutput{}; }).source == Source::kReadOnly);
  CHECK(*cache.lookup(example_key(1))->entry == example_entry(1));
  CHECK(source_of(cache.lookup(example_key(1))) == "memory");
  CHECK(source_of(cache.lookup(example_key(2))) == "read_only");
  CHECK(*cache.lookup(example_key(2))->entry == example_entry(2));
  CHECK(cache.get_or_build(example_key(3), [] { return example_output(3); }).source == Source::kBuilt);
  CHECK(source_of(Cache(shipped.options()).lookup(example_key(3))) == "disk");
  CHECK(testing::count_files(shipped.scratch / "user") == 1);
  CHECK(testing::count_files(shipped.scratch / "image") == 1);
  CHECK(shipped.log.lines().empty());
}

TEST_CASE("a read-only folder has a key whose file is of its size and begins with it") {
  Shipped shipped;
  std::filesystem::remove(shipped.scratch / "pack");
  const Cache cache(shipped.options());
  const Warnings warnings(nullptr);
  const auto file = DiskStore(shipped.scratch / "image", warnings).file_of(example_key(1).digest());
  CHECK(cache.contains(example_key(1)));
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  CHECK_FALSE(cache.contains(example_key(1)));
  std::filesystem::resize_file(file, 0);
  CHECK_FALSE(cache.contains(example_key(1)));
}

TEST_CASE("read-only hits are counted") {
  Shipped shipped;
  std::filesystem::create_directories(shipped.scratch / "user");
  Cache(shipped.options()).lookup(example_key(2));
  CHECK(Counters::read(shipped.scratch / "user")["minimax_m3.k1"]["read_only_hits"] == 1);
}

TEST_CASE("strict mode is content with what is read-only") {
  Shipped shipped;
  Cache cache(shipped.options(true));
  CHECK(cache.get_or_build(example_key(2), [] { return BuildOutput{}; }).source == Source::kReadOnly);
  CHECK_THROWS_AS(cache.get_or_build(example_key(3), [] { return BuildOutput{}; }), MissError);
}

TEST_CASE("a key that was dropped is built, however often the read-only places have it") {
  Shipped shipped;
  Cache cache(shipped.options());
  REQUIRE(cache.lookup(example_key(1)));
  cache.drop(example_key(1));
  CHECK(cache.get_or_build(example_key(1), [] { return example_output(1); }).source == Source::kBuilt);
  CHECK(testing::count_files(shipped.scratch / "image") == 1);
}

TEST_CASE("a damaged entry of a read-only folder is said once, left there and built") {
  Shipped shipped;
  const Warnings warnings(nullptr);
  const auto file = DiskStore(shipped.scratch / "image", warnings).file_of(example_key(1).digest());
  std::filesystem::resize_file(file, 100);
  std::filesystem::remove(shipped.scratch / "pack");
  Cache cache(shipped.options());
  CHECK(cache.get_or_build(example_key(1), [] { return example_output(1); }).source == Source::kBuilt);
  cache.drop(example_key(1));
  const auto lines = shipped.log.lines();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], ContainsSubstring("pack can't be opened (No such file or directory): it is not used"));
  CHECK_THAT(lines[1], ContainsSubstring(file.string() + " is truncated: 100 of"));
  CHECK(std::filesystem::file_size(file) == 100);
}

TEST_CASE("an entry of another key under this one's name is not served from an archive either") {
  const ScratchFolder scratch;
  WarningLog log;
  testing::write_archive(scratch / "pack", {{example_key(1), encode(example_entry(2))}});
  Cache cache({.folder = {}, .warn = log.callback(), .settings = {.read_only = {scratch / "pack"}}});
  CHECK_FALSE(cache.lookup(example_key(1)));
  CHECK_THAT(log.only(), ContainsSubstring("holds another key, minimax_m3.k1{tokens=2}"));
}

TEST_CASE("entries of the same text by another generator or toolchain are told apart from a miss") {
  Shipped shipped;
  Key later = example_key(1);
  later.generator = "ffee00112233445566";
  Key elsewhere = example_key(2);
  elsewhere.toolchain = "llvm-23.1.0/comgr-3.0";
  Cache cache(shipped.options());
  CHECK(cache.other_versions(later) == std::vector<std::string>{"generator a1b2c3, llvm-22.1.8/comgr-3.0"});
  CHECK(cache.other_versions(elsewhere) == std::vector<std::string>{"generator a1b2c3, llvm-22.1.8/comgr-3.0"});
  CHECK(cache.other_versions(example_key(3)).empty());
  CHECK(cache.other_versions(example_key(1)).empty());
  cache.get_or_build(later, [] { return example_output(1); });
  CHECK(cache.other_versions(example_key(1)) ==
        std::vector<std::string>{"generator ffee00112233, llvm-22.1.8/comgr-3.0"});
}

}  // namespace
}  // namespace monojit::cache
