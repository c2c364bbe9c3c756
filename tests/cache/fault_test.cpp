// Every call of the file system fails in turn: it never costs an answer, never serves a wrong kernel, leaves no debris.
//
// The linker sends the library's calls through the functions below (--wrap, see CMakeLists.txt).

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include <catch2/catch_test_macros.hpp>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace {

/// The call that fails, counted from now on; what it fails with. -1: none does.
std::atomic<int> calls_left = -1;
std::atomic<int> calls_made = 0;
int injected_error = EIO;

bool fails() {
  ++calls_made;
  if (calls_left < 0 || calls_left-- != 0) return false;
  errno = injected_error;
  return true;
}

}  // namespace

#define MONOJIT_WRAP(result, name, parameters, arguments, failure) \
  result __real_##name parameters;                                 \
  result __wrap_##name parameters {                                \
    if (fails()) return failure;                                   \
    return __real_##name arguments;                                \
  }

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" {
MONOJIT_WRAP(int, fsync, (int file), (file), -1)
MONOJIT_WRAP(int, rename, (const char* from, const char* to), (from, to), -1)
MONOJIT_WRAP(int, unlink, (const char* file), (file), -1)
MONOJIT_WRAP(int, rmdir, (const char* folder), (folder), -1)
MONOJIT_WRAP(int, mkdir, (const char* folder, mode_t mode), (folder, mode), -1)
MONOJIT_WRAP(int, chmod, (const char* file, mode_t mode), (file, mode), -1)
MONOJIT_WRAP(int, fchmod, (int file, mode_t mode), (file, mode), -1)
MONOJIT_WRAP(int, flock, (int file, int how), (file, how), -1)
MONOJIT_WRAP(int, access, (const char* file, int how), (file, how), -1)
MONOJIT_WRAP(int, futimens, (int file, const timespec* times), (file, times), -1)
MONOJIT_WRAP(int, stat, (const char* file, struct stat* to), (file, to), -1)
MONOJIT_WRAP(int, lstat, (const char* file, struct stat* to), (file, to), -1)
MONOJIT_WRAP(int, fstat, (int file, struct stat* to), (file, to), -1)
MONOJIT_WRAP(int, fstatat, (int folder, const char* file, struct stat* to, int flags), (folder, file, to, flags), -1)
MONOJIT_WRAP(DIR*, opendir, (const char* folder), (folder), nullptr)
MONOJIT_WRAP(dirent*, readdir, (DIR * folder), (folder), nullptr)

MONOJIT_WRAP(ssize_t, read, (int file, void* to, size_t size), (file, to, size), -1)
MONOJIT_WRAP(ssize_t, write, (int file, const void* from, size_t size), (file, from, size), -1)
int __real_open(const char* file, int flags, ...);
int __wrap_open(const char* file, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, unsigned);
  va_end(rest);
  return fails() ? -1 : __real_open(file, flags, mode);
}
}
// NOLINTEND(bugprone-reserved-identifier)

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;
using testing::example_output;
using testing::ScratchFolder;
using testing::WarningLog;

/// Every call from the `number`th on until this ends goes as usual; that one fails.
class Fault {
 public:
  Fault(int number, int error) {
    injected_error = error;
    calls_made = 0;
    calls_left = number;
  }
  ~Fault() { calls_left = -1; }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
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
      const Fault fault(number, error);
      right = live(folder, log);
      if (calls_made <= number) break;
    }
    CAPTURE(number, error, log.lines());
    REQUIRE(right);
    CHECK(log.lines().size() <= 2);  // the damaged entry, and the fault
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
