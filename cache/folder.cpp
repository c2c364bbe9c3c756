#include "cache/folder.h"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "cache/file.h"
#include "environment/variables.h"

namespace monojit::cache {
namespace {

std::filesystem::path value_of(const Environment& lookup, const char* name) {
  const char* value = lookup(name);
  return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
}

/// The first part of the way to `folder` that exists and is no folder.
std::optional<std::filesystem::path> file_in_the_way(const std::filesystem::path& folder) {
  std::filesystem::path way;
  for (const std::filesystem::path& part : folder) {
    way /= part;
    std::error_code error;
    const auto status = std::filesystem::status(way, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) return way;
  }
  return std::nullopt;
}

}  // namespace

UserFolder user_folder(const Environment& lookup) {
  constexpr const char* kOwn = environment::name(environment::Id::kCacheDir);
  if (const auto own = value_of(lookup, kOwn); !own.empty()) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(own, error);
    return {error ? own : absolute, kOwn};
  }
  if (const auto xdg = value_of(lookup, "XDG_CACHE_HOME"); xdg.is_absolute()) {
    return {xdg / "monojit" / "kernels", "XDG_CACHE_HOME"};
  }
  if (const auto home = value_of(lookup, "HOME"); home.is_absolute()) {
    return {home / ".cache" / "monojit" / "kernels", "HOME"};
  }
  return {};
}

UserFolder user_folder() {
  return user_folder([](const char* name) -> const char* { return std::getenv(name); });
}

std::optional<Obstacle> obstacle_in(const std::filesystem::path& folder) {
  if (const auto file = file_in_the_way(folder)) return Obstacle{*file, ENOTDIR};
  std::filesystem::path place = folder;
  while (::access(place.c_str(), W_OK | X_OK) != 0) {
    if (errno != ENOENT) return Obstacle{place, errno};
    const std::filesystem::path parent = place.parent_path();
    if (parent.empty() || parent == place) return Obstacle{place, ENOENT};
    place = parent;
  }
  return std::nullopt;
}

std::string folder_problem(const std::filesystem::path& folder, int error, const std::filesystem::path& part) {
  const std::string name = printable(folder.native());
  if (const auto file = file_in_the_way(folder)) {
    if (*file == folder) return fmt::format("cache folder {} is a file: caching is off (set MONOJIT_CACHE_DIR)", name);
    return fmt::format("cache folder {} can't be made, {} is a file: caching is off (set MONOJIT_CACHE_DIR)", name,
                       printable(file->native()));
  }
  std::string why = error_text(error);
  if (!part.empty() && part != folder) why = fmt::format("{}: {}", printable(part.native()), why);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return fmt::format("cache folder {} is full ({}): new kernels are not kept (free space or set MONOJIT_CACHE_DIR)",
                         name, why);
    default:
      return fmt::format(
          "cache folder {} can't be used ({}): new kernels are not kept (set MONOJIT_CACHE_DIR to a folder that can be "
          "written)",
          name, why);
  }
}

}  // namespace monojit::cache
