#pragma once

#include <filesystem>
#include <functional>
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

/// Why `folder` could not be used, in one line that says what to do. `error` is an errno value.
std::string folder_problem(const std::filesystem::path& folder, int error);

}  // namespace monojit::cache
