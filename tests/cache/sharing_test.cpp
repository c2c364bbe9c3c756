// Folders that several users share, and folders that nobody else may look into.

#include <catch2/catch_test_macros.hpp>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;
using testing::in_child;
using testing::ScratchFolder;
using testing::WarningLog;

constexpr unsigned kGroup = 54321;
constexpr unsigned kFirst = 54001;
constexpr unsigned kSecond = 54002;

bool become(unsigned user, unsigned group) {
  return ::setgroups(0, nullptr) == 0 && ::setgid(group) == 0 && ::setuid(user) == 0;
}

CacheOptions shared(const std::filesystem::path& folder, WarningLog& log) {
  return {.folder = folder, .warn = log.callback(), .settings = {.modes = Modes::with_umask(0007)}};
}

/// As another user, with a process umask that lets nobody else in: 0 when key 1 came from `source` without a warning.
int obtain_as(unsigned user, const std::filesystem::path& folder, Source source, int number) {
  if (!become(user, kGroup)) return 2;
  ::umask(0077);
  WarningLog log;
  Cache cache(shared(folder, log));
  const Hit hit = cache.get_or_build(example_key(number), [&]() -> BuildOutput {
    Entry entry = example_entry(number);
    return {entry.metadata, entry.code_object};
  });
  if (*hit.entry != example_entry(number) || hit.source != source) return 3;
  if (source == Source::kBuilt && !hit.stored) return 4;
  return log.lines().empty() ? 0 : 5;
}

TEST_CASE("users of a group hit what another of them built, add to it and trim it") {
  if (::geteuid() != 0) SKIP("only root can be several users");
  const ScratchFolder scratch;
  const auto folder = scratch / "shared";
  std::filesystem::create_directory(folder);
  REQUIRE(::chown(folder.c_str(), kFirst, kGroup) == 0);
  testing::set_mode(folder, 02770);
  CHECK(in_child([&] { return obtain_as(kFirst, folder, Source::kBuilt, 1); }) == 0);
  CHECK(in_child([&] { return obtain_as(kSecond, folder, Source::kDisk, 1); }) == 0);
  CHECK(in_child([&] { return obtain_as(kSecond, folder, Source::kBuilt, 2); }) == 0);
  CHECK(in_child([&] { return obtain_as(kFirst, folder, Source::kDisk, 2); }) == 0);
  CHECK(Counters::read(folder)["minimax_m3.k1"]["disk_hits"] == 2);
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    CAPTURE(file.path());
    CHECK(testing::mode_of(file) == (file.is_directory() ? 02770 : 0660));
  }
  CHECK(in_child([&] {
          if (!become(kSecond, kGroup)) return 2;
          WarningLog log;
          const Warnings warnings(log.callback());
          DiskStore store(folder, warnings, {.modes = Modes::with_umask(0007), .limits = {}});
          return store.trim({.max_bytes = 1, .max_age_s = 0}).removed.entries == 2 ? 0 : 3;
        }) == 0);
}

TEST_CASE("without a umask of its own a cache is for its user alone, whatever the process's umask") {
  const ScratchFolder scratch;
  const auto folder = scratch / "private";
  CHECK(in_child([&] {
          ::umask(0);
          Cache cache(testing::in_folder(folder));
          const Hit hit = cache.get_or_build(example_key(), [] { return BuildOutput{}; });
          return hit.stored ? 0 : 2;
        }) == 0);
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    CAPTURE(file.path());
    CHECK(testing::mode_of(file) == (file.is_directory() ? 0700U : 0600U));
  }
  if (::geteuid() != 0) return;
  CHECK(in_child([&] {
          if (!become(kSecond, kGroup)) return 2;
          WarningLog log;
          Cache cache({.folder = folder, .warn = log.callback()});
          const Hit hit = cache.get_or_build(example_key(), [] { return BuildOutput{}; });
          return hit.source == Source::kBuilt && log.lines().size() == 1 ? 0 : 3;
        }) == 0);
}

}  // namespace
}  // namespace monojit::cache
