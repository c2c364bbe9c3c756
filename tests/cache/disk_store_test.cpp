#include "cache/disk_store.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/temp_file.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::count_files;
using testing::example_entry;
using testing::example_key;
using testing::ScratchStore;

struct Fixture : ScratchStore {
  std::filesystem::path file(int number = 1) const { return store.file_of(example_key(number).digest()); }
};

TEST_CASE_METHOD(Fixture, "what was stored is found, by this store and by another one of the folder") {
  CHECK(store.lookup(example_key()) == nullptr);
  const Entry entry = example_entry(1, 40'000);
  REQUIRE(store.store(entry));
  const DiskStore other(scratch / "cache", warnings);
  for (const DiskStore* reader : {&std::as_const(store), &other}) {
    const auto found = reader->lookup(example_key());
    REQUIRE(found != nullptr);
    CHECK(*found == entry);
  }
  CHECK(store.lookup(example_key(2)) == nullptr);
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Fixture, "an entry is one file, named by its digest, and nothing else stays") {
  REQUIRE(store.store(example_entry()));
  REQUIRE(store.store(example_entry()));
  const std::string name = hex(example_key().digest());
  CHECK(file() == scratch / "cache" / "entries" / name.substr(0, 2) / (name + ".mono"));
  CHECK(testing::read_bytes(file()) == encode(example_entry()));
  CHECK(count_files(scratch.path()) == 1);
}

TEST_CASE_METHOD(Fixture, "entries are their owner's alone, whatever the umask") {
  for (const ::mode_t mask : {0000U, 0022U, 0777U}) {
    const ::mode_t before = ::umask(mask);
    const bool stored = store.store(example_entry());
    ::umask(before);
    REQUIRE(stored);
    CHECK(testing::mode_of(file()) == 0600);
    CHECK(testing::mode_of(file().parent_path()) == 0700);
    CHECK(testing::mode_of(scratch / "cache") == 0700);
    std::filesystem::remove_all(scratch / "cache");
  }
}

TEST_CASE_METHOD(Fixture,
                 "a damaged entry is a miss, is said once with file and reason, and is replaced by the next store") {
  REQUIRE(store.store(example_entry()));
  auto bytes = encode(example_entry());
  std::string reason;
  SECTION("cut") {
    bytes.resize(bytes.size() - 1);
    reason = "is truncated";
  }
  SECTION("empty") {
    bytes.clear();
    reason = "is truncated: 0 bytes";
  }
  SECTION("a bit flipped") {
    bytes.back() ^= std::byte{1};
    reason = "is damaged";
  }
  SECTION("of another format version") {
    bytes[8] = std::byte{2};
    reason = "has format version 2";
  }
  SECTION("of another key, rightly sealed") {
    bytes = encode(example_entry(2));
    reason = "holds another key, minimax_m3.k1{tokens=2}";
  }
  testing::write_bytes(file(), bytes);
  CHECK(store.lookup(example_key()) == nullptr);
  CHECK(store.lookup(example_key()) == nullptr);
  CHECK_THAT(log.only(), ContainsSubstring("cache entry " + file().string() + " " + reason));
  REQUIRE(store.store(example_entry()));
  REQUIRE(store.lookup(example_key()) != nullptr);
  CHECK(*store.lookup(example_key()) == example_entry());
}

TEST_CASE_METHOD(Fixture, "a link, a pipe or a folder in an entry's place is not followed, not waited for, and said") {
  REQUIRE(store.store(example_entry()));
  std::string reason;
  SECTION("link") {
    std::filesystem::rename(file(), scratch / "aside");
    std::filesystem::create_symlink(scratch / "aside", file());
    reason = "is a symbolic link";
  }
  SECTION("pipe") {
    std::filesystem::remove(file());
    REQUIRE(::mkfifo(file().c_str(), 0600) == 0);
    reason = "is not a regular file";
  }
  SECTION("folder") {
    std::filesystem::remove(file());
    std::filesystem::create_directories(file() / "with" / "content");
    reason = "is not a regular file";
  }
  CHECK(store.lookup(example_key()) == nullptr);
  CHECK_THAT(log.only(), ContainsSubstring(file().string() + " " + reason));
  CHECK(store.store(example_entry()));
  CHECK(store.lookup(example_key()) != nullptr);
  if (std::filesystem::exists(scratch / "aside")) CHECK(std::filesystem::is_regular_file(scratch / "aside"));
}

TEST_CASE_METHOD(Fixture, "a folder in an entry's place is listed with what is wrong, and removed like an entry") {
  for (const int number : {1, 2}) std::filesystem::create_directories(file(number) / "with" / "content");
  const std::vector<StoredEntry> listed = store.list();
  REQUIRE(listed.size() == 2);
  CHECK(listed.front().problem == "is not a regular file");
  CHECK(store.remove(example_key(1).digest()));
  CHECK_FALSE(store.remove(example_key(1).digest()));
  const Removed removed = store.remove_all();
  CHECK(removed.entries == 1);
  CHECK(removed.failed == 0);
  CHECK(store.list().empty());
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Fixture,
                 "an entry that is removed between the listing and the look at it is not listed, and no problem") {
  for (const int number : {1, 2}) REQUIRE(store.store(example_entry(number)));
  const Inventory inventory = store.inventory();
  REQUIRE(inventory.files.size() == 2);
  std::filesystem::remove(file(1));
  for (const Look look : {Look::kHead, Look::kWhole}) {
    const std::vector<StoredEntry> listed = list_entries(scratch / "cache", inventory, look);
    REQUIRE(listed.size() == 1);
    CHECK(listed.front().problem.empty());
    CHECK(listed.front().file == file(2));
  }
}

TEST_CASE_METHOD(Fixture, "a folder in an entry's place may hold links: what they lead to stays") {
  std::filesystem::create_directories(file());
  std::filesystem::create_directory(scratch / "elsewhere");
  testing::write_text(scratch / "elsewhere/keep", "x");
  std::filesystem::create_directory_symlink(scratch / "elsewhere", file() / "link");
  REQUIRE(store.store(example_entry()));
  CHECK(std::filesystem::exists(scratch / "elsewhere/keep"));
}

TEST_CASE_METHOD(Fixture, "a file that is too large to be an entry is not read") {
  REQUIRE(store.store(example_entry()));
  std::filesystem::resize_file(file(), kMaxEntryBytes + 1);  // sparse
  CHECK(store.lookup(example_key()) == nullptr);
  CHECK_THAT(log.only(), ContainsSubstring("more than any entry"));
}

TEST_CASE_METHOD(Fixture, "the listing shows every entry, and the damaged ones with what is wrong") {
  CHECK(store.list().empty());
  for (const int number : {1, 2, 3, 4}) REQUIRE(store.store(example_entry(number, 100)));
  testing::write_text(file(2), "x");
  std::filesystem::rename(file(3), file(4));
  testing::write_text(scratch / "cache/entries/README", "not an entry");
  std::filesystem::create_directories(scratch / "cache/entries/zz");
  testing::write_bytes(scratch / "cache/entries/zz" / file(1).filename(), encode(example_entry(1)));

  const auto listed = store.list();
  REQUIRE(listed.size() == 3);
  for (const StoredEntry& stored : listed) {
    CHECK(stored.file_bytes == std::filesystem::file_size(stored.file));
    CHECK(stored.modified > 0);
    if (stored.digest == example_key(1).digest()) {
      CHECK(stored.problem.empty());
      CHECK(stored.key == example_key(1));
      CHECK(stored.metadata == example_entry().metadata);
      CHECK(stored.code_bytes == 100);
    } else if (stored.digest == example_key(2).digest()) {
      CHECK_THAT(stored.problem, ContainsSubstring("is not a cache entry"));
    } else {
      CHECK(stored.digest == example_key(4).digest());
      CHECK_THAT(stored.problem, ContainsSubstring("has the wrong name for its key, minimax_m3.k1{tokens=3}"));
    }
  }
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Fixture, "a listing of heads alone sees what a whole one does, but for damage behind the key") {
  constexpr std::size_t kCodeBytes = 10'000;
  for (const int number : {1, 2, 3, 4, 5}) REQUIRE(store.store(example_entry(number, kCodeBytes)));
  testing::write_text(file(2), "x");
  std::filesystem::rename(file(3), file(4));
  auto damaged = testing::read_bytes(file(5));
  damaged[damaged.size() / 2] ^= std::byte{1};
  testing::write_bytes(file(5), damaged);
  for (const Look look : {Look::kHead, Look::kWhole}) {
    const auto listed = store.list(look);
    REQUIRE(listed.size() == 4);
    for (const StoredEntry& stored : listed) {
      const bool fine =
          stored.digest == example_key(1).digest() || (look == Look::kHead && stored.digest == example_key(5).digest());
      CAPTURE(stored.problem);
      CHECK(stored.problem.empty() == fine);
      CHECK(stored.code_bytes == (fine ? kCodeBytes : 0));
      CHECK(verified(stored).problem.empty() == (stored.digest == example_key(1).digest()));
    }
  }
}

TEST_CASE_METHOD(Fixture, "one entry is removed by its digest") {
  REQUIRE(store.store(example_entry(1)));
  REQUIRE(store.store(example_entry(2)));
  CHECK(store.remove(example_key(1).digest()));
  CHECK_FALSE(store.remove(example_key(1).digest()));
  CHECK(store.lookup(example_key(1)) == nullptr);
  CHECK(store.lookup(example_key(2)) != nullptr);
  CHECK(log.lines().empty());
}

TEST_CASE_METHOD(Fixture, "removing all takes every entry, sound or not, and leaves the files of others") {
  CHECK(store.remove_all().entries == 0);
  for (const int number : {1, 2, 3}) REQUIRE(store.store(example_entry(number)));
  testing::write_text(file(2), "damaged");
  testing::write_text(scratch / "cache/thesis.txt", "not the cache's");
  testing::write_text(scratch / "cache/entries/notes.mono", "no digest for a name");
  const auto bytes = 2 * encode(example_entry()).size() + std::string_view("damaged").size();
  const Removed removed = store.remove_all();
  CHECK(removed.entries == 3);
  CHECK(removed.bytes == bytes);
  CHECK(removed.failed == 0);
  CHECK(store.list().empty());
  CHECK(count_files(scratch.path()) == 2);
  CHECK(store.store(example_entry()));
}

TEST_CASE_METHOD(Fixture, "the first store sweeps what dead processes left, and nothing that is in the making") {
  REQUIRE(make_folders(scratch / "cache/tmp") == 0);
  REQUIRE(make_folders(scratch / "cache/locks") == 0);
  testing::write_text(scratch / "cache/tmp/0123.tmp", "half an ent");
  testing::write_text(scratch / "cache/locks/0123.lock", "");
  const TempFile in_the_making(scratch / "cache/tmp");
  REQUIRE(in_the_making.error() == 0);
  const FileLock held = store.lock(example_key(), FileLock::Wait::kNever);
  REQUIRE(store.store(example_entry()));
  CHECK_FALSE(std::filesystem::exists(scratch / "cache/tmp/0123.tmp"));
  CHECK_FALSE(std::filesystem::exists(scratch / "cache/locks/0123.lock"));
  CHECK(count_files(scratch / "cache/tmp") == 1);
  CHECK(count_files(scratch / "cache/locks") == 1);
}

TEST_CASE_METHOD(Fixture,
                 "a folder that is removed in use is made anew, and one behind a link or with an odd name is as good") {
  REQUIRE(store.store(example_entry()));
  std::filesystem::remove_all(scratch / "cache");
  CHECK(store.lookup(example_key()) == nullptr);
  CHECK(store.store(example_entry()));
  CHECK(store.lookup(example_key()) != nullptr);

  std::filesystem::create_directory(scratch / "disk");
  std::filesystem::create_directory_symlink(scratch / "disk", scratch / "link");
  for (const std::string name : {"link", "a b", "new\nline", "\xFF\xFE", "-rf", "*", "trailing/"}) {
    DiskStore odd(scratch / name, warnings);
    CHECK(odd.store(example_entry()));
    CHECK(odd.lookup(example_key()) != nullptr);
    CHECK(odd.list().size() == 1);
  }
  CHECK(log.lines().empty());
}

}  // namespace
}  // namespace monojit::cache
