#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cache/key.h"

/// Which other releases have built the kernel of a key: what tells a version mismatch from a miss.
namespace monojit::cache {

/// The keys of the entry files of a folder, from the files' first bytes alone.
std::vector<Key> peek_keys(const std::filesystem::path& folder);

/// Adds "generator 12ab…, llvm-22.1.8/comgr-3.0" to the sorted `versions`, if `found` has the text and the target of
/// `key` and differs from it.
void add_other_version(const Key& key, const Key& found, std::vector<std::string>& versions);

}  // namespace monojit::cache
