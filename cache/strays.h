#pragma once

#include <filesystem>
#include <vector>

#include "cache/file.h"

/// Files, links and folders that stand where a cache folder has its own folders and files, entries aside.
namespace monojit::cache {

inline constexpr const char* kLocksFolder = "locks";
inline constexpr const char* kTemporaryFolder = "tmp";
inline constexpr const char* kCountersFile = "counters";
inline constexpr const char* kTrimmedFile = "trimmed";

/// Whether something is there that is neither a folder nor a link to one.
bool is_in_folders_place(const std::filesystem::path& path);

/// Whether something is there that is no regular file.
bool is_in_files_place(const std::filesystem::path& path);

/// All of them in the cache folder `folder`.
std::vector<std::filesystem::path> find_strays(const std::filesystem::path& folder);

/// Removes one of them, a folder in a file's place with all that is in it. 0 or an errno value.
int remove_stray(const std::filesystem::path& stray);

/// make_folders(`own`), one of the folders below `folder`; what stands in its place goes. 0 or an errno value.
int make_own_folder(const std::filesystem::path& folder, const std::filesystem::path& own, const Modes& modes);

/// Opens `own`, `counters` or `trimmed` of a cache folder, never waiting. What is no regular file gives way where
/// `flags` make one; a folder that has something in it stays. Not valid, with errno, when that fails.
Descriptor open_own_file(const std::filesystem::path& own, int flags, unsigned mode = 0);

}  // namespace monojit::cache
