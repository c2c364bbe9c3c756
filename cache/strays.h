#pragma once

#include <filesystem>
#include <vector>

#include "cache/file.h"

/// Files, links and folders that stand where a cache folder has its own folders and lock files.
namespace monojit::cache {

inline constexpr const char* kLocksFolder = "locks";
inline constexpr const char* kTemporaryFolder = "tmp";

/// Whether something is there that is neither a folder nor a link to one.
bool is_in_folders_place(const std::filesystem::path& path);

/// Whether something is there that is no regular file.
bool is_in_files_place(const std::filesystem::path& path);

/// All of them in the cache folder `folder`.
std::vector<std::filesystem::path> find_strays(const std::filesystem::path& folder);

/// Removes one of them. 0 or an errno value.
int remove_stray(const std::filesystem::path& stray);

/// make_folders(`own`), one of the folders below `folder`; what stands in its place goes. 0 or an errno value.
int make_own_folder(const std::filesystem::path& folder, const std::filesystem::path& own, const Modes& modes);

}  // namespace monojit::cache
