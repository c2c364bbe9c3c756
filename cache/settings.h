#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/file.h"
#include "cache/folder.h"
#include "cache/limits.h"
#include "cache/warnings.h"

namespace monojit::cache {

/// What a cache is besides its folder.
struct Settings {
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{5} << 30;

  Limits limits = {.max_bytes = kDefaultMaxBytes};
  std::optional<Modes> modes = {};  ///< none: as the cache folder itself allows
  std::vector<std::filesystem::path> read_only =
      {};                   ///< folders or archives, looked into after the user's folder, in order
  std::string remote = {};  ///< URL of a store that machines share; empty: none

  /// MONOJIT_CACHE_MAX_SIZE, _MAX_AGE, _UMASK, _READONLY and _REMOTE. A value that means nothing is warned of and
  /// counts as not set.
  static Settings from(const Environment& environment, const Warnings& warnings);
  /// From the process's environment.
  static Settings from_environment(const Warnings& warnings);

  /// Of what is made in this cache folder.
  Modes modes_in(const std::filesystem::path& folder) const { return modes ? *modes : Modes::of_folder(folder); }
};

}  // namespace monojit::cache
