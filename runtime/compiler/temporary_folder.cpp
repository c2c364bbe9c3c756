#include "runtime/compiler/temporary_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "kernels/common/error.h"

namespace monojit::runtime {
namespace {

/// LLVM's, in its order.
constexpr std::array kVariables = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"};
constexpr std::string_view kLetters = "XXXXXX";  // mkdtemp's
constexpr const char* kWish = "the compiler wants a folder for temporary files";

/// The largest kernel's build has less than 256 KiB there at a time, in 8 files and folders; several may run.
constexpr std::uint64_t kWantedBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kWantedFiles = 64;

struct Place {
  std::filesystem::path folder = "/tmp";
  std::string shown = "/tmp";  ///< with the variable that names it
};

Place place() {
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return {value, fmt::format("{}={}", name, value)};
  }
  return {};
}

/// LLVM ends the process over a write that fails. A file system that does not know its size, or counts no files,
/// passes.
void check_room(const Place& place) {
  struct statvfs room{};
  if (statvfs(place.folder.c_str(), &room) != 0 || room.f_blocks == 0) return;
  const std::uint64_t bytes = std::uint64_t{geteuid() == 0 ? room.f_bfree : room.f_bavail} * room.f_frsize;
  const std::uint64_t files = room.f_files == 0 ? kWantedFiles : room.f_favail;
  if (bytes >= kWantedBytes && files >= kWantedFiles) return;
  throw UserError(fmt::format("{} is full, it has room for {} KiB{}: {}, with {} KiB free (make room, or set TMPDIR)",
                              place.shown, bytes >> 10, files < kWantedFiles ? fmt::format(" in {} files", files) : "",
                              kWish, kWantedBytes >> 10));
}

constexpr std::string_view kOurs = "monojit-";
constexpr std::string_view kComgrs = "comgr-";
constexpr std::array kInputs = {"input/monojit.bc", "input/monojit.o"};
/// The longest build takes minutes.
constexpr std::time_t kAbandoned = 24 * 60 * 60;

bool is_old_and_mine(const std::filesystem::path& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0 && status.st_uid == geteuid() &&
         std::time(nullptr) - status.st_mtime > kAbandoned;
}

/// Whether nobody has touched anything in a build's folder for long.
bool is_abandoned_build(const std::filesystem::path& folder) {
  std::error_code error;
  if (!is_old_and_mine(folder) || std::filesystem::is_symlink(folder, error)) return false;
  const auto is_there = [&](const char* input) { return is_old_and_mine(folder / input); };
  if (std::ranges::none_of(kInputs, is_there)) return false;
  for (std::filesystem::recursive_directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    if (!is_old_and_mine(each->path())) return false;
  }
  return !error;
}

}  // namespace

std::filesystem::path make_temporary_folder(std::string_view prefix) {
  const Place parent = place();
  std::error_code error;
  if (!std::filesystem::is_directory(parent.folder, error))
    throw UserError(fmt::format("{} is no folder: {} (set TMPDIR)", parent.shown, kWish));
  std::string path = parent.folder / fmt::format("{}{}", prefix, kLetters);
  if (mkdtemp(path.data()) == nullptr) {
    throw UserError(fmt::format("{} takes no files ({}): {} (set TMPDIR)", parent.shown,
                                std::generic_category().message(errno), kWish));
  }
  return path;
}

void check_temporary_folder() {
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    if (*value != '\0') break;
    throw UserError(fmt::format("{} is set, but empty: {} (unset it, or name one)", name, kWish));
  }
  (void)rmdir(make_temporary_folder(kOurs).c_str());
  check_room(place());
}

void sweep_temporary_folder() {
  std::error_code error;
  for (std::filesystem::directory_iterator each(place().folder, error), end; !error && each != end;
       each.increment(error)) {
    const std::filesystem::path& path = each->path();
    const std::string name = path.filename().string();
    std::error_code failed;
    if (name.starts_with(kComgrs) && is_abandoned_build(path)) {
      (void)std::filesystem::remove_all(path, failed);
    } else if (name.starts_with(kOurs) && name.size() == kOurs.size() + kLetters.size() && is_old_and_mine(path)) {
      (void)rmdir(path.c_str());  // one that is empty
    }
  }
}

}  // namespace monojit::runtime
