#include "cache/cache.h"

#include <atomic>
#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;
using testing::example_output;
using testing::ScratchFolder;
using testing::WarningLog;

/// Counts its runs; makes example_entry(number).
struct CountingBuilder {
  std::atomic<int> builds = 0;

  Builder of(int number) {
    return [this, number] {
      ++builds;
      return example_output(number);
    };
  }
};

struct Fixture {
  ScratchFolder scratch;
  WarningLog log;
  CountingBuilder builder;

  CacheOptions options(bool strict = false) {
    return {.folder = scratch / "cache", .warn = log.callback(), .strict = strict};
  }
};

TEST_CASE_METHOD(Fixture, "a key is built, then found in memory, then by the next process on disk") {
  Cache first(options());
  CHECK_FALSE(first.lookup(example_key()).has_value());
  const Hit built = first.get_or_build(example_key(), builder.of(1));
  CHECK(built.source == Source::kBuilt);
  CHECK(built.stored);
  CHECK(*built.entry == example_entry());
  CHECK(built.store_ms > 0);
  const Hit again = first.get_or_build(example_key(), builder.of(1));
  CHECK(again.source == Source::kMemory);
  CHECK(again.entry == built.entry);

  Cache second(options());
  const Hit from_disk = second.get_or_build(example_key(), builder.of(1));
  CHECK(from_disk.source == Source::kDisk);
  CHECK(*from_disk.entry == example_entry());
  CHECK(from_disk.lookup_ms > 0);
  CHECK(testing::source_of(second.lookup(example_key())) == "memory");
  CHECK(builder.builds == 1);
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Fixture, "a look-up reads the disk and fills memory") {
  Cache(options()).get_or_build(example_key(), builder.of(1));
  Cache cache(options());
  CHECK(testing::source_of(cache.lookup(example_key())) == "disk");
  CHECK(testing::source_of(cache.lookup(example_key())) == "memory");
}

TEST_CASE_METHOD(Fixture, "a builder that fails leaves nothing, and the next call builds") {
  Cache cache(options());
  const Builder failing = []() -> BuildOutput { throw std::runtime_error("no such instruction"); };
  CHECK_THROWS_WITH(cache.get_or_build(example_key(), failing), "no such instruction");
  CHECK_FALSE(cache.lookup(example_key()).has_value());
  CHECK(testing::count_files(scratch.path()) == 0);
  CHECK(cache.get_or_build(example_key(), builder.of(1)).source == Source::kBuilt);
}

TEST_CASE_METHOD(Fixture, "a damaged entry is built anew and replaced, with one warning") {
  Cache(options()).get_or_build(example_key(), builder.of(1));
  Cache cache(options());
  testing::write_text(cache.disk()->file_of(example_key().digest()), "damaged");
  CHECK(cache.get_or_build(example_key(), builder.of(1)).source == Source::kBuilt);
  CHECK(Cache(options()).lookup(example_key()).has_value());
  CHECK(log.lines().size() == 1);
}

TEST_CASE_METHOD(Fixture, "strict mode never builds: a miss is an error with the key's text, a hit is a hit") {
  Cache strict(options(true));
  try {
    strict.get_or_build(example_key(), builder.of(1));
    FAIL("a miss in strict mode must throw");
  } catch (const MissError& error) {
    CHECK(error.key_text() == "minimax_m3.k1{tokens=1}");
    CHECK(error.target() == "amdgcn-amd-amdhsa--gfx950");
    CHECK(error.what() ==
          std::string("minimax_m3.k1{tokens=1} for amdgcn-amd-amdhsa--gfx950 is not in the cache, and strict "
                      "mode builds nothing"));
  }
  CHECK(builder.builds == 0);
  CHECK_FALSE(std::filesystem::exists(scratch / "cache"));
  Cache(options()).get_or_build(example_key(), builder.of(1));
  CHECK(strict.get_or_build(example_key(), builder.of(1)).source == Source::kDisk);
  CHECK(strict.get_or_build(example_key(), builder.of(1)).source == Source::kMemory);
}

TEST_CASE_METHOD(Fixture, "a dropped key is gone from memory and disk") {
  Cache cache(options());
  cache.get_or_build(example_key(), builder.of(1));
  cache.drop(example_key());
  CHECK_FALSE(cache.lookup(example_key()).has_value());
  CHECK(cache.get_or_build(example_key(), builder.of(1)).source == Source::kBuilt);
}

TEST_CASE_METHOD(Fixture, "a dropped key leaves the entry that another process has put in its place since") {
  Cache cache(options());
  cache.get_or_build(example_key(), builder.of(1));
  Cache other(options());
  other.drop(example_key());
  const BuildOutput better = {"{}", {std::byte{1}}};
  other.get_or_build(example_key(), [&] { return better; });
  cache.drop(example_key());
  const Hit hit = cache.get_or_build(example_key(), builder.of(1));
  CHECK(hit.source == Source::kDisk);
  CHECK(hit.entry->code_object == better.code_object);
}

TEST_CASE_METHOD(Fixture, "a dropped entry that can't be removed from the folder is not taken again") {
  Cache cache(options());
  cache.get_or_build(example_key(), builder.of(1));
  const auto file = cache.disk()->file_of(example_key().digest());
  const auto aside = scratch / "aside";
  std::filesystem::copy(file, aside);
  cache.drop(example_key());
  std::filesystem::rename(aside, file);  // as if the folder were read-only
  CHECK_FALSE(cache.lookup(example_key()).has_value());
  CHECK(cache.get_or_build(example_key(), builder.of(1)).source == Source::kBuilt);
}

TEST_CASE_METHOD(Fixture, "a cache without a folder keeps its entries in memory") {
  Cache cache({.folder = {}, .warn = log.callback()});
  const Hit built = cache.get_or_build(example_key(), builder.of(1));
  CHECK(built.source == Source::kBuilt);
  CHECK_FALSE(built.stored);
  CHECK(cache.get_or_build(example_key(), builder.of(1)).source == Source::kMemory);
  CHECK(cache.disk() == nullptr);
  cache.drop(example_key());
  CHECK_FALSE(cache.lookup(example_key()).has_value());
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Fixture, "an environment that names no folder costs one line") {
  for (const char* variable : {"MONOJIT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) ::unsetenv(variable);
  CHECK(CacheOptions::for_user(log.callback()).folder.empty());
  CHECK(CacheOptions::for_user(log.callback()).folder.empty());
  CHECK(log.only() ==
        "no cache folder, as neither HOME nor XDG_CACHE_HOME is set: caching is off (set MONOJIT_CACHE_DIR)");
  ::setenv("MONOJIT_CACHE_DIR", "/somewhere", 1);
  CHECK(CacheOptions::for_user(log.callback()).folder == "/somewhere");
}

TEST_CASE_METHOD(Fixture, "a warning callback that throws costs nothing") {
  testing::write_text(scratch / "cache", "a file");
  Cache cache({.folder = scratch / "cache", .warn = [](std::string_view) { throw std::runtime_error("log is full"); }});
  CHECK(cache.get_or_build(example_key(), builder.of(1)).source == Source::kBuilt);
}

TEST_CASE_METHOD(Fixture, "many threads that ask for a few keys through two caches of a folder build each key once") {
  constexpr int kThreads = 64;
  constexpr int kKeys = 4;
  constexpr int kRounds = 50;
  Cache first(options());
  Cache second(options());  // knows of the first only by the folder
  std::latch all_there(kThreads);
  std::atomic<int> wrong = 0;
  std::atomic<int> built = 0;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      all_there.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        const int number = (t + round) % kKeys;
        const Hit hit = (t % 2 == 0 ? first : second).get_or_build(example_key(number), builder.of(number));
        if (*hit.entry != example_entry(number)) ++wrong;
        if (hit.source == Source::kBuilt) ++built;
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
  CHECK(builder.builds == kKeys);
  CHECK(built == kKeys);
  CHECK(testing::count_files(scratch.path()) == kKeys);
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Fixture, "a builder may ask for other keys, though another thread builds them and asks back") {
  Cache cache(options());
  std::latch both_inside(2);
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (const int number : {1, 2}) {
    threads.emplace_back([&, number] {
      const Hit hit = cache.get_or_build(example_key(number), [&] {
        both_inside.arrive_and_wait();
        cache.get_or_build(example_key(3 - number), builder.of(3 - number));
        return builder.of(number)();
      });
      if (*hit.entry == example_entry(number)) ++right;
    });
  }
  threads.clear();
  CHECK(right == 2);
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Fixture, "a builder that asks for its own key is an error, and the key can be built after it") {
  Cache cache(options());
  const Builder recursive = [&] {
    cache.get_or_build(example_key(), builder.of(1));
    return BuildOutput{};
  };
  CHECK_THROWS_AS(cache.get_or_build(example_key(), recursive), std::logic_error);
  CHECK(cache.get_or_build(example_key(), builder.of(1)).source == Source::kBuilt);
}

TEST_CASE("contains tells of both tiers, builds nothing and says nothing of a file that is no entry") {
  const ScratchFolder scratch;
  WarningLog log;
  CacheOptions options = testing::in_folder(scratch / "cache");
  options.warn = log.callback();
  Cache cache(options);
  CHECK_FALSE(cache.contains(example_key()));
  cache.get_or_build(example_key(), [] { return example_output(); });
  CHECK(cache.contains(example_key()));  // in memory
  CHECK(Cache(options).contains(example_key()));
  CHECK_FALSE(Cache(options).contains(example_key(2)));

  const auto file = cache.disk()->file_of(example_key().digest());
  const std::vector<std::byte> whole = testing::read_bytes(file);
  testing::write_bytes(file, std::span(whole).first(whole.size() - 1));
  CHECK_FALSE(Cache(options).contains(example_key()));
  testing::write_bytes(file, {});
  CHECK_FALSE(Cache(options).contains(example_key()));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK_FALSE(Cache(options).contains(example_key()));
  CHECK(log.lines().empty());
}

}  // namespace
}  // namespace monojit::cache
