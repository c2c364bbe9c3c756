// Every call of the file system fails in turn: it never costs an answer, never serves a wrong kernel, leaves no debris.

#include <cerrno>

#include <catch2/catch_test_macros.hpp>

#include "cache/cache.h"
#include "tests/cache/file_faults.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;
using testing::example_output;
using testing::ScratchFolder;
using testing::WarningLog;

/// Of the calls for what lies below the folder while this lives, that of the number fails.
class Fault {
 public:
  Fault(const std::filesystem::path& folder, int number, int error) {
    tests::start_file_faults(folder.native(), number, error);
  }
  ~Fault() { stop(); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  /// How many there were.
  int stop() { return tests::stop_file_faults(); }
};

/// None fails, but none is synced to the disk either.
class NoFault : public Fault {
 public:
  explicit NoFault(const std::filesystem::path& folder) : Fault(folder, -1, 0) {}
};

/// A process's life with a cache: a hit, a hit of a damaged entry, builds, a look at the limits, a removal.
/// Whether every answer was right.
bool live(const std::filesystem::path& folder, WarningLog& log) {
  constexpr int kKeys = 4;
  Cache cache({.folder = folder,
               .warn = log.callback(),
               .settings = {.limits = {.max_bytes = 100'000, .max_age_s = 1000}, .modes = Modes::with_umask(0027)}});
  for (int n = 1; n <= kKeys; ++n) {
    const Hit hit = cache.get_or_build(example_key(n), [&] { return example_output(n); });
    if (*hit.entry != example_entry(n)) return false;
  }
  cache.drop(example_key(4));
  cache.disk()->list();
  cache.disk()->trim({.max_bytes = 1000, .max_age_s = 0});
  return true;
}

/// A folder with a sound entry, a damaged one, and what a killed writer left.
void prepare(const std::filesystem::path& folder) {
  const NoFault quick(folder);
  const Warnings warnings([](std::string_view) {});
  DiskStore store(folder, warnings);
  for (const int n : {1, 2}) store.store(example_entry(n));
  std::filesystem::resize_file(store.file_of(example_key(2).digest()), 50);
  testing::write_text(folder / "tmp/0123456789abcdef.tmp", "half");
}

/// Lets call after call fail; gives how many there are.
int fail_each_call(int error) {
  constexpr int kTooMany = 10'000;
  const ScratchFolder scratch;
  int number = 0;
  for (; number < kTooMany; ++number) {
    const auto folder = scratch / std::to_string(number);
    prepare(folder);
    WarningLog log;
    bool right = false;
    {
      Fault fault(folder, number, error);
      right = live(folder, log);
      if (fault.stop() <= number) break;
    }
    CAPTURE(number, error, log.lines());
    REQUIRE(right);
    CHECK(log.lines().size() <= 2);  // the damaged entry, and the fault
    const NoFault quick(folder);
    WarningLog after;
    REQUIRE(live(folder, after));  // sweeps what a failed unlink left
    CHECK(std::filesystem::is_empty(folder / "tmp"));
    CHECK(std::filesystem::is_empty(folder / "locks"));
    std::filesystem::remove_all(folder);
  }
  return number;
}

TEST_CASE("whichever call of the file system fails, with whatever error, every answer is right") {
  constexpr int kFewest = 100;  // a scenario of fewer calls would test little
  for (const int error : {EIO, ENOSPC, EACCES, ENOENT, ESTALE, EROFS, EMFILE}) {
    CAPTURE(error);
    CHECK(fail_each_call(error) > kFewest);
  }
}

}  // namespace
}  // namespace monojit::cache
