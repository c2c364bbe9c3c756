#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace monojit::cache {

/// The user's cache folder and the environment variable that gave it; both empty when none does.
struct UserFolder {
  std::filesystem::path path;  ///< absolute; need not exist
  std::string origin;          ///< "MONOJIT_CACHE_DIR", "XDG_CACHE_HOME" or "HOME"
};

/// A variable's value, nullptr when it is not set.
using Environment = std::function<const char*(const char*)>;

/// $MONOJIT_CACHE_DIR, else $XDG_CACHE_HOME/monojit/kernels, else $HOME/.cache/monojit/kernels. Empty variables count
/// as unset, and so do relative paths in the latter two (as the XDG specification demands); a relative
/// $MONOJIT_CACHE_DIR is meant from the current folder.
UserFolder user_folder(const Environment& environment);
/// From the process's environment.
UserFolder user_folder();

/// Why `folder` could not be used, in one line that says what to do. `error` is an errno value, `part` the folder in it
/// that gave the error, where it is known.
std::string folder_problem(const std::filesystem::path& folder, int error, const std::filesystem::path& part = {});

/// Why nothing could be stored in `folder` now.
struct Obstacle {
  std::filesystem::path place;  ///< a file in the way, or a folder that can't be written
  int error = 0;                ///< ENOTDIR for the former
};
/// Nothing where `folder` can be written, or made. Changes nothing, so that what a store alone would meet is not seen.
std::optional<Obstacle> obstacle_in(const std::filesystem::path& folder);

}  // namespace monojit::cache
