// What stands in the place of a cache's own folders and files.

#include "cache/strays.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/cache.h"
#include "cache/disk_store.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using testing::example_entry;
using testing::example_key;
using testing::ScratchStore;

/// A store with one entry and, in the place of one of its folders, a file or a dead link.
struct Obstructed : ScratchStore {
  fs::path shard = store.file_of(example_key().digest()).parent_path();

  void obstruct(const fs::path& own, bool with_link) {
    REQUIRE(store.store(example_entry()));
    fs::remove_all(own);
    if (with_link) {
      fs::create_symlink(scratch / "nowhere", own);
    } else {
      testing::write_text(own, "stray");
    }
  }
};

TEST_CASE_METHOD(Obstructed, "what is in the place of a store's folder gives way to the next entry") {
  const bool with_link = GENERATE(false, true);
  const std::string own = GENERATE("entries", "tmp", "locks", "shard");
  CAPTURE(with_link, own);
  const fs::path place = own == "shard" ? shard : store.folder() / own;
  obstruct(place, with_link);
  CHECK(store.strays() == std::vector{place});
  CHECK(store.lock(example_key(), FileLock::Wait::kNever).state() == FileLock::State::kHeld);
  CHECK(store.store(example_entry()));
  CHECK(store.lookup(example_key()) != nullptr);
  CHECK(store.strays().empty());
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Obstructed, "a look-up behind a file in a folder's place misses and names the file") {
  obstruct(shard, false);
  CHECK(store.lookup(example_key()) == nullptr);
  CHECK_THAT(log.only(), ContainsSubstring(shard.string()) && !ContainsSubstring("MONOJIT_CACHE_DIR"));
}

TEST_CASE_METHOD(Obstructed, "what is in the place of a lock file gives way to the lock") {
  REQUIRE(store.store(example_entry()));
  const fs::path lock = store.lock_file(example_key());
  fs::create_directories(store.folder() / "locks");
  if (GENERATE(false, true)) {
    fs::create_directories(lock / "below");
  } else {
    fs::create_symlink(scratch / "nowhere", lock);
  }
  CHECK(store.strays() == std::vector{lock});
  CHECK(store.lock(example_key(), FileLock::Wait::kNever).state() == FileLock::State::kHeld);
  CHECK(log.lines().empty());
}

/// What can stand in a file's place.
void put_stray(const fs::path& own, std::string_view kind) {
  if (kind == "link") fs::create_symlink("/nowhere", own);
  if (kind == "pipe") REQUIRE(::mkfifo(own.c_str(), 0600) == 0);
  if (kind == "folder") fs::create_directory(own);
  if (kind == "full folder") fs::create_directories(own / "below");
}

TEST_CASE_METHOD(Obstructed,
                 "what is in the place of the counts gives way to them, but for a folder with something in it") {
  const std::string kind = GENERATE("link", "pipe", "folder", "full folder");
  CAPTURE(kind);
  REQUIRE(store.store(example_entry()));
  const fs::path counters = store.folder() / "counters";
  put_stray(counters, kind);
  CHECK(store.strays() == std::vector{counters});
  {
    Cache cache({.folder = store.folder(), .warn = log.callback()});
    CHECK(cache.lookup(example_key()));
  }
  CHECK(fs::exists(counters / "below") == (kind == "full folder"));
  CHECK(Counters::read(store.folder()).size() == (kind == "full folder" ? 0 : 1));
  CHECK(Counters::reset(store.folder()) == 0);
  CHECK(store.strays().empty());
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Obstructed, "whatever is in the place of the last trim's time, the next trim gives it one") {
  const std::string kind = GENERATE("link", "pipe", "folder", "full folder");
  CAPTURE(kind);
  REQUIRE(store.store(example_entry()));
  const fs::path trimmed = store.folder() / "trimmed";
  put_stray(trimmed, kind);
  const timespec long_ago[] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  REQUIRE(::utimensat(AT_FDCWD, trimmed.c_str(), long_ago, AT_SYMLINK_NOFOLLOW) == 0);
  CHECK(DiskStore(store.folder(), warnings, {.limits = {.max_bytes = 1 << 20}}).store(example_entry(2)));
  struct stat status{};
  REQUIRE(::lstat(trimmed.c_str(), &status) == 0);
  CHECK(status.st_mtime > 1);
  CHECK(S_ISREG(status.st_mode) == (kind != "full folder"));
  CHECK(store.strays().empty() == (kind != "full folder"));
  CHECK(store.remove_all().failed == 0);
  CHECK(store.strays().empty());
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Obstructed, "removing all takes what is in the place of folders with it, and no other file") {
  const std::string own = GENERATE("entries", "tmp", "locks", "shard");
  obstruct(own == "shard" ? shard : store.folder() / own, GENERATE(false, true));
  testing::write_text(store.folder() / "notes", "of the user");
  CHECK(store.remove_all().failed == 0);
  CHECK(store.strays().empty());
  CHECK(fs::exists(store.folder() / "notes"));
}

TEST_CASE_METHOD(Obstructed, "a stray that has become a folder of the store meanwhile stays, with all that is in it") {
  REQUIRE(store.store(example_entry()));
  CHECK(remove_stray(shard) == 0);
  CHECK(store.lookup(example_key()) != nullptr);
}

TEST_CASE_METHOD(Obstructed, "a link to a folder in a folder's place is used as one") {
  REQUIRE(store.store(example_entry()));
  fs::rename(shard, scratch / "elsewhere");
  fs::create_directory_symlink(scratch / "elsewhere", shard);
  CHECK(store.strays().empty());
  CHECK(store.store(example_entry()));
  CHECK(fs::is_symlink(shard));
}

}  // namespace
}  // namespace monojit::cache
