// Folders that can't be used: every case costs one warning and never an answer.

#include <cstdio>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::example_entry;
using testing::example_key;
using testing::in_child;
using testing::ScratchFolder;
using testing::WarningLog;

constexpr std::size_t kCodeBytes = 100'000;
constexpr int kSkipped = 77;
constexpr unsigned kNobody = 65534;

BuildOutput build(int number) {
  Entry entry = example_entry(number, kCodeBytes);
  return {std::move(entry.metadata), std::move(entry.code_object)};
}

/// Builds two keys through a cache in `folder`; gives the warnings. Fails unless every answer was right and built once,
/// and nothing claims to be stored.
std::string warning_of(const std::filesystem::path& folder) {
  WarningLog log;
  Cache cache({.folder = folder, .warn = log.callback()});
  for (const int number : {1, 2}) {
    const Hit built = cache.get_or_build(example_key(number), [&] { return build(number); });
    if (built.source != Source::kBuilt || built.stored || *built.entry != example_entry(number, kCodeBytes)) {
      return "wrong answer";
    }
    if (testing::source_of(cache.lookup(example_key(number))) != "memory") return "not in memory";
  }
  return log.only();
}

/// For a forked child: 0 when the warning holds `expected`.
int expect_warning(const std::filesystem::path& folder, std::string_view expected) {
  const std::string warning = warning_of(folder);
  if (warning.find(expected) != std::string::npos) return 0;
  std::fprintf(stderr, "expected \"%s\" in \"%s\"\n", std::string(expected).c_str(), warning.c_str());
  return 1;
}

/// Root's rights in a mount namespace of this process: root's own, or an ordinary user's in a user namespace.
bool may_mount() {
  if (::unshare(CLONE_NEWNS) == 0) return true;
  const auto uid = ::geteuid();
  const auto gid = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  testing::write_text("/proc/self/setgroups", "deny");
  testing::write_text("/proc/self/uid_map", fmt::format("0 {} 1", uid));
  testing::write_text("/proc/self/gid_map", fmt::format("0 {} 1", gid));
  return true;
}

/// A file system of its own at `folder`, for this process alone.
bool mount_small_disk(const std::filesystem::path& folder, const char* options) {
  if (!may_mount()) return false;
  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, options) == 0;
}

void check_or_skip(int status) {
  if (status == kSkipped) SKIP("this machine lets us mount nothing");
  CHECK(status == 0);
}

TEST_CASE("a file in the cache folder's place") {
  const ScratchFolder scratch;
  testing::write_text(scratch / "file", "precious");
  CHECK(warning_of(scratch / "file") ==
        "cache folder " + (scratch / "file").string() + " is a file: caching is off (set MONOJIT_CACHE_DIR)");
  CHECK_THAT(warning_of(scratch / "file/below"), ContainsSubstring("can't be made, " + (scratch / "file").string()));
  CHECK(testing::count_files(scratch.path()) == 1);
}

TEST_CASE("a folder where nothing can be made") {
  CHECK_THAT(warning_of("/proc/monojit"), ContainsSubstring("cache folder /proc/monojit can't be used ("));
}

TEST_CASE("a warning of a folder is said once a process, not once a cache") {
  const ScratchFolder scratch;
  testing::write_text(scratch / "file", "");
  CHECK_THAT(warning_of(scratch / "file"), ContainsSubstring("is a file"));
  CHECK(warning_of(scratch / "file") == "0 warnings: ");
}

TEST_CASE("a folder without write permission, for an ordinary user") {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / "read_only");
  testing::set_mode(scratch / "read_only", 0555);
  CHECK(in_child([&] {
          if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
            return 2;
          return expect_warning(scratch / "read_only", "can't be used (Permission denied): new kernels are not kept");
        }) == 0);
}

TEST_CASE("a read-only folder still serves what is in it") {
  const ScratchFolder scratch;
  testing::set_mode(scratch.path(), 0777);
  const auto folder = scratch / "shipped";
  CHECK(in_child([&] {
          if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
            return 2;
          const Key key = example_key(3);
          if (!Cache(testing::in_folder(folder)).get_or_build(key, [] { return build(3); }).stored) return 3;
          std::vector<std::filesystem::path> folders{folder};
          for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
            if (file.is_directory()) folders.push_back(file.path());
          }
          for (const auto& each : folders) testing::set_mode(each, 0555);
          WarningLog log;
          const auto hit = Cache({.folder = folder, .warn = log.callback()}).lookup(key);
          const int failed = hit && log.lines().empty() ? expect_warning(folder, "Permission denied") : 4;
          for (const auto& each : folders) testing::set_mode(each, 0755);
          return failed;
        }) == 0);
}

TEST_CASE("a read-only file system") {
  const ScratchFolder scratch;
  check_or_skip(in_child([&] {
    if (!mount_small_disk(scratch.path(), "size=1m")) return kSkipped;
    if (::mount("tmpfs", scratch.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0) return kSkipped;
    return expect_warning(scratch / "cache", "can't be used (Read-only file system)");
  }));
}

TEST_CASE("a full disk, and no half-written file stays on it") {
  const ScratchFolder scratch;
  check_or_skip(in_child([&] {
    if (!mount_small_disk(scratch.path(), "size=64k")) return kSkipped;
    if (const int failed = expect_warning(scratch / "cache", "is full (No space left on device)"); failed != 0)
      return failed;
    return testing::count_files(scratch.path()) == 0 ? 0 : 2;
  }));
}

TEST_CASE("a limit on the size of files does not end the process") {
  const ScratchFolder scratch;
  CHECK(in_child([&] {
          const rlimit limit{.rlim_cur = kCodeBytes / 2, .rlim_max = kCodeBytes / 2};
          if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
          if (const int failed = expect_warning(scratch / "cache", "is full (File too large)"); failed != 0)
            return failed;
          return testing::count_files(scratch.path()) == 0 ? 0 : 3;
        }) == 0);
}

TEST_CASE("no descriptor left to open a file with") {
  const ScratchFolder scratch;
  CHECK(in_child([&] {
          const rlimit limit{.rlim_cur = 3, .rlim_max = 3};  // stdin, stdout and stderr
          if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
          WarningLog log;
          Cache cache({.folder = scratch / "cache", .warn = log.callback()});
          return cache.get_or_build(example_key(), [] { return build(1); }).source == Source::kBuilt ? 0 : 3;
        }) == 0);
}

TEST_CASE("the problem of a folder can be asked for, as doctor does") {
  const ScratchFolder scratch;
  WarningLog log;
  const Warnings warnings(log.callback());
  testing::write_text(scratch / "file", "");
  CHECK_THAT(DiskStore(scratch / "file", warnings).problem().value_or(""), ContainsSubstring("is a file"));
  CHECK_FALSE(DiskStore(scratch / "good", warnings).problem().has_value());
  CHECK(testing::count_files(scratch / "good") == 0);
  CHECK(log.lines().empty());
}

}  // namespace
}  // namespace monojit::cache
