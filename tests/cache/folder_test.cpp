#include "cache/folder.h"

#include <cerrno>
#include <map>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "cache/file.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::ScratchFolder;

UserFolder folder_with(const std::map<std::string, std::string>& variables) {
  return user_folder([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST_CASE("the cache folder is the first that the environment names") {
  const UserFolder own = folder_with({{"MONOJIT_CACHE_DIR", "/a"}, {"XDG_CACHE_HOME", "/b"}, {"HOME", "/c"}});
  CHECK(own.path == "/a");
  CHECK(own.origin == "MONOJIT_CACHE_DIR");
  const UserFolder xdg = folder_with({{"XDG_CACHE_HOME", "/b"}, {"HOME", "/c"}});
  CHECK(xdg.path == "/b/monojit/kernels");
  CHECK(xdg.origin == "XDG_CACHE_HOME");
  const UserFolder home = folder_with({{"HOME", "/c"}});
  CHECK(home.path == "/c/.cache/monojit/kernels");
  CHECK(home.origin == "HOME");
}

TEST_CASE("empty variables count as unset, and relative ones do where they would mean a different place each time") {
  CHECK(folder_with({{"MONOJIT_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", "/c"}}).origin == "HOME");
  CHECK(folder_with({{"XDG_CACHE_HOME", "b"}, {"HOME", "/c"}}).origin == "HOME");
  CHECK(folder_with({{"MONOJIT_CACHE_DIR", "kernels"}}).path == std::filesystem::current_path() / "kernels");
}

TEST_CASE("an environment without any of the three has no cache folder") {
  CHECK(folder_with({}).path.empty());
  CHECK(folder_with({}).origin.empty());
  CHECK(folder_with({{"HOME", "relative"}}).path.empty());
}

TEST_CASE("missing folders are made with their parents, for this user alone") {
  const ScratchFolder scratch;
  const auto deep = scratch / "a/b\n ü/c";
  REQUIRE(make_folders(deep) == 0);
  REQUIRE(make_folders(deep) == 0);
  for (const auto& folder : {scratch / "a", deep.parent_path(), deep}) {
    CHECK(testing::mode_of(folder) == 0700);
  }
}

TEST_CASE("a file in the way of a folder is not a folder") {
  const ScratchFolder scratch;
  testing::write_text(scratch / "file", "");
  CHECK(make_folders(scratch / "file") == ENOTDIR);
  CHECK(make_folders(scratch / "file/below") == ENOTDIR);
}

TEST_CASE("a folder's problem is one line that says what to do") {
  const ScratchFolder scratch;
  testing::write_text(scratch / "file", "");
  const std::string file = (scratch / "file").string();
  CHECK(folder_problem(scratch / "file", ENOTDIR) ==
        "cache folder " + file + " is a file: caching is off (set MONOJIT_CACHE_DIR)");
  CHECK(folder_problem(scratch / "file/x", ENOTDIR) ==
        "cache folder " + file + "/x can't be made, " + file + " is a file: caching is off (set MONOJIT_CACHE_DIR)");
  CHECK(folder_problem("/a\nb", ENOSPC) ==
        "cache folder /a\\x0ab is full (No space left on device): new kernels are not kept (free space or set "
        "MONOJIT_CACHE_DIR)");
  CHECK(folder_problem("/a", EACCES, "/a/entries/c0") ==
        "cache folder /a can't be used (/a/entries/c0: Permission denied): new kernels are not kept (set "
        "MONOJIT_CACHE_DIR to a folder that can be written)");
}

TEST_CASE("what stands in the way of a folder is found without making it") {
  const ScratchFolder scratch;
  testing::write_text(scratch / "file", "");
  CHECK_FALSE(obstacle_in(scratch / "not" / "there").has_value());
  CHECK_FALSE(std::filesystem::exists(scratch / "not"));
  for (const auto& folder : {scratch / "file", scratch / "file/below/it"}) {
    const auto obstacle = obstacle_in(folder);
    REQUIRE(obstacle.has_value());
    CHECK(obstacle->place == scratch / "file");
    CHECK(obstacle->error == ENOTDIR);
  }
}

TEST_CASE("what is shown of a text is one line of UTF-8 without control characters") {
  CHECK(printable("a b\\ \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80") == "a b\\ \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(printable("\n\x1b\x7f") == "\\x0a\\x1b\\x7f");
  CHECK(printable("\xC2\x9B") == "\\xc2\\x9b");           // a control character of two bytes
  CHECK(printable("\xC3") == "\\xc3");                    // cut
  CHECK(printable("\xC0\xAF") == "\\xc0\\xaf");           // longer than need be
  CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");  // half of a pair
  CHECK(printable("\xFF\xC3\xA4") == "\\xff\xC3\xA4");
}

}  // namespace
}  // namespace monojit::cache
