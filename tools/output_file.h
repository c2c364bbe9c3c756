#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

/// Files that the user names to be written: whole or not at all.
namespace monojit::tools {

/// Throws UserError, naming the file and the reason, when replace_file() couldn't write `file`: it is there and no
/// regular file, may not be written, or its folder is missing or takes no new files. Leaves nothing behind.
void check_output_file(const std::filesystem::path& file);

/// Makes `file` hold `parts`, one after the other. What was there stays until all of them are written. Links are
/// followed; permissions of a file that was there are kept. Throws UserError as check_output_file() does, and when
/// writing fails.
void replace_file(const std::filesystem::path& file, std::span<const std::span<const std::byte>> parts);

}  // namespace monojit::tools
