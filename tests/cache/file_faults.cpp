#include "tests/cache/file_faults.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace monojit::tests {
namespace {

constexpr std::size_t kMaxDescriptors = 4096;

std::array<char, 4096> watched_folder;  // empty: nothing is watched
std::atomic<int> calls_made = 0;
std::atomic<int> failing_call = -1;
std::atomic<int> injected_error = EIO;
/// Which descriptors were opened below the folder.
std::array<std::atomic<bool>, kMaxDescriptors> watched_descriptors;

bool below(const char* path) {
  const std::size_t size = std::strlen(watched_folder.data());
  return size != 0 && std::strncmp(path, watched_folder.data(), size) == 0 && (path[size] == '/' || path[size] == 0);
}

bool below(int descriptor) {
  return descriptor >= 0 && static_cast<std::size_t>(descriptor) < kMaxDescriptors && watched_folder[0] != 0 &&
         watched_descriptors[static_cast<std::size_t>(descriptor)];
}

bool below(DIR* folder) { return below(dirfd(folder)); }

bool below(int folder, const char* path) { return path[0] == '/' ? below(path) : below(folder); }

void watch(int descriptor, bool is_below) {
  if (descriptor >= 0 && static_cast<std::size_t>(descriptor) < kMaxDescriptors) {
    watched_descriptors[static_cast<std::size_t>(descriptor)] = is_below;
  }
}

int watching(int opened, bool is_below) {
  watch(opened, is_below);
  return opened;
}

DIR* watching(DIR* opened, bool is_below) {
  if (opened != nullptr) watch(dirfd(opened), is_below);
  return opened;
}

FILE* watching(FILE* opened, bool) { return opened; }

void log_failure(const char* call) {
  const char* const file = std::getenv("FILE_FAULTS_LOG");
  if (file == nullptr) return;
  constexpr unsigned kOwnerOnly = 0600;
  const long log = ::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, kOwnerOnly);
  (void)::dprintf(static_cast<int>(log), "%s\n", call);
  ::syscall(SYS_close, log);
}

bool fails(const char* call) {
  if (calls_made++ != failing_call) return false;
  log_failure(call);
  errno = injected_error;
  return true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? -1 : static_cast<int>(std::strtol(text, nullptr, 10));
}

[[gnu::constructor]] void start_by_environment() {
  const char* const folder = std::getenv("FILE_FAULTS_FOLDER");
  if (folder != nullptr) start_file_faults(folder, number_in("FILE_FAULTS_NUMBER"), number_in("FILE_FAULTS_ERROR"));
}

}  // namespace

void start_file_faults(std::string_view folder, int number, int error) {
  watched_folder = {};
  folder.copy(watched_folder.data(), watched_folder.size() - 1);
  injected_error = error;
  calls_made = 0;
  failing_call = number;
}

int stop_file_faults() {
  watched_folder = {};
  failing_call = -1;
  return calls_made;
}

// NOLINTBEGIN(bugprone-macro-parentheses, cppcoreguidelines-pro-type-vararg): types and lists
// The functions have names of their own here, as the C library's headers declare some of them in other ways.
#define MONOJIT_DECLARE(result, name, parameters) \
  extern "C" __attribute__((visibility("default"))) result faulty_##name parameters __asm__(#name)

#define MONOJIT_CALL(result, failure, name, parameters, arguments, is_below)      \
  MONOJIT_DECLARE(result, name, parameters);                                      \
  result faulty_##name parameters {                                               \
    static const auto real = next<decltype(&faulty_##name)>(#name);               \
    return (is_below) && fails(#name) ? result(failure) : result(real arguments); \
  }

#define MONOJIT_OPENING(result, failure, name, parameters, arguments, is_below)   \
  MONOJIT_DECLARE(result, name, parameters);                                      \
  result faulty_##name parameters {                                               \
    static const auto real = next<decltype(&faulty_##name)>(#name);               \
    const bool watched = is_below;                                                \
    return watched && fails(#name) ? failure : watching(real arguments, watched); \
  }

#define MONOJIT_OPENING_WITH_MODE(name, parameters, arguments, is_below)                     \
  MONOJIT_DECLARE(int, name, parameters);                                                    \
  int faulty_##name parameters {                                                             \
    static const auto real = next<decltype(&faulty_##name)>(#name);                          \
    va_list rest;                                                                            \
    va_start(rest, flags);                                                                   \
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0; \
    va_end(rest);                                                                            \
    const bool watched = is_below;                                                           \
    return watched && fails(#name) ? -1 : watching(real arguments, watched);                 \
  }

using Path = const char*;
using Text = char*;
using Status = struct ::stat*;
using Status64 = struct ::stat64*;
using StatusX = struct ::statx*;
using Entry = ::dirent*;
using Entry64 = ::dirent64*;
using Times = const ::timespec*;

MONOJIT_OPENING_WITH_MODE(open, (Path file, int flags, ...), (file, flags, mode), below(file))
MONOJIT_OPENING_WITH_MODE(open64, (Path file, int flags, ...), (file, flags, mode), below(file))
MONOJIT_OPENING_WITH_MODE(openat, (int at, Path file, int flags, ...), (at, file, flags, mode), below(at, file))
MONOJIT_OPENING_WITH_MODE(openat64, (int at, Path file, int flags, ...), (at, file, flags, mode), below(at, file))
MONOJIT_OPENING(int, -1, creat, (Path file, mode_t mode), (file, mode), below(file))
MONOJIT_OPENING(FILE*, nullptr, fopen, (Path file, Path mode), (file, mode), below(file))
MONOJIT_OPENING(FILE*, nullptr, fopen64, (Path file, Path mode), (file, mode), below(file))
MONOJIT_OPENING(DIR*, nullptr, opendir, (Path folder), (folder), below(folder))
MONOJIT_OPENING(DIR*, nullptr, fdopendir, (int folder), (folder), below(folder))

MONOJIT_CALL(Entry, nullptr, readdir, (DIR * folder), (folder), below(folder))
MONOJIT_CALL(Entry64, nullptr, readdir64, (DIR * folder), (folder), below(folder))

MONOJIT_CALL(ssize_t, -1, read, (int file, void* to, size_t size), (file, to, size), below(file))
MONOJIT_CALL(ssize_t, -1, pread, (int file, void* to, size_t size, off_t at), (file, to, size, at), below(file))
MONOJIT_CALL(ssize_t, -1, pread64, (int file, void* to, size_t size, off_t at), (file, to, size, at), below(file))
MONOJIT_CALL(ssize_t, -1, write, (int file, const void* from, size_t size), (file, from, size), below(file))
MONOJIT_CALL(ssize_t, -1, pwrite, (int file, const void* from, size_t size, off_t at), (file, from, size, at),
             below(file))
MONOJIT_CALL(ssize_t, -1, pwrite64, (int file, const void* from, size_t size, off_t at), (file, from, size, at),
             below(file))
MONOJIT_CALL(int, -1, ftruncate, (int file, off_t size), (file, size), below(file))
MONOJIT_CALL(int, -1, ftruncate64, (int file, off_t size), (file, size), below(file))
MONOJIT_CALL(int, -1, flock, (int file, int how), (file, how), below(file))

MONOJIT_CALL(int, -1, rename, (Path from, Path to), (from, to), below(from) || below(to))
MONOJIT_CALL(int, -1, renameat, (int from_at, Path from, int to_at, Path to), (from_at, from, to_at, to),
             below(from_at, from) || below(to_at, to))
MONOJIT_CALL(int, -1, link, (Path from, Path to), (from, to), below(from) || below(to))
MONOJIT_CALL(int, -1, symlink, (Path from, Path to), (from, to), below(to))
MONOJIT_CALL(ssize_t, -1, readlink, (Path file, char* to, size_t size), (file, to, size), below(file))
MONOJIT_CALL(int, -1, unlink, (Path file), (file), below(file))
MONOJIT_CALL(int, -1, unlinkat, (int at, Path file, int flags), (at, file, flags), below(at, file))
MONOJIT_CALL(int, -1, remove, (Path file), (file), below(file))
MONOJIT_CALL(int, -1, rmdir, (Path folder), (folder), below(folder))
MONOJIT_CALL(int, -1, mkdir, (Path folder, mode_t mode), (folder, mode), below(folder))
MONOJIT_CALL(int, -1, mkdirat, (int at, Path folder, mode_t mode), (at, folder, mode), below(at, folder))
MONOJIT_CALL(int, -1, truncate, (Path file, off_t size), (file, size), below(file))

MONOJIT_CALL(int, -1, chmod, (Path file, mode_t mode), (file, mode), below(file))
MONOJIT_CALL(int, -1, fchmod, (int file, mode_t mode), (file, mode), below(file))
MONOJIT_CALL(int, -1, fchmodat, (int at, Path file, mode_t mode, int flags), (at, file, mode, flags), below(at, file))
MONOJIT_CALL(int, -1, access, (Path file, int how), (file, how), below(file))
MONOJIT_CALL(int, -1, faccessat, (int at, Path file, int how, int flags), (at, file, how, flags), below(at, file))
MONOJIT_CALL(int, -1, futimens, (int file, Times times), (file, times), below(file))
MONOJIT_CALL(int, -1, stat, (Path file, Status to), (file, to), below(file))
MONOJIT_CALL(int, -1, stat64, (Path file, Status64 to), (file, to), below(file))
MONOJIT_CALL(int, -1, lstat, (Path file, Status to), (file, to), below(file))
MONOJIT_CALL(int, -1, lstat64, (Path file, Status64 to), (file, to), below(file))
MONOJIT_CALL(int, -1, fstat, (int file, Status to), (file, to), below(file))
MONOJIT_CALL(int, -1, fstat64, (int file, Status64 to), (file, to), below(file))
MONOJIT_CALL(int, -1, fstatat, (int at, Path file, Status to, int flags), (at, file, to, flags), below(at, file))
MONOJIT_CALL(int, -1, fstatat64, (int at, Path file, Status64 to, int flags), (at, file, to, flags), below(at, file))
MONOJIT_CALL(int, -1, statx, (int at, Path file, int flags, unsigned wanted, StatusX to), (at, file, flags, wanted, to),
             below(at, file))
MONOJIT_CALL(Text, nullptr, realpath, (Path file, Text to), (file, to), below(file))

// No machine fails in these tests, and thousands of real syncs would take minutes.
MONOJIT_DECLARE(int, fsync, (int file));
int faulty_fsync(int file) {
  static const auto real = next<decltype(&faulty_fsync)>("fsync");
  if (!below(file)) return real(file);
  return fails("fsync") ? -1 : 0;
}

// A close that fails has closed nevertheless.
MONOJIT_DECLARE(int, close, (int file));
int faulty_close(int file) {
  static const auto real = next<decltype(&faulty_close)>("close");
  const bool watched = below(file);
  watch(file, false);
  const int result = real(file);
  return watched && fails("close") ? -1 : result;
}

MONOJIT_DECLARE(int, closedir, (DIR * folder));
int faulty_closedir(DIR* folder) {
  static const auto real = next<decltype(&faulty_closedir)>("closedir");
  watch(dirfd(folder), false);
  return real(folder);
}
// NOLINTEND(bugprone-macro-parentheses, cppcoreguidelines-pro-type-vararg)

}  // namespace monojit::tests
