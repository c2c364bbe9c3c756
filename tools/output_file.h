#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

/// Files that the user names to be written: whole or not at all.
namespace monojit::tools {

/// Throws UserError, naming the file and the reason, when replace_file() couldn't write `file`: it is there and no
/// regular file, may not be written, or its folder is missing or takes no new files. Leaves nothing behind.
void check_output_file(const std::filesystem::path& file);

/// Makes `file` hold `parts`, one after the other. What was there stays until all of them are written. Links are
/// followed; permissions of a file that was there are kept. Throws UserError as check_output_file() does, and when
/// writing fails.
void replace_file(const std::filesystem::path& file, std::span<const std::span<const std::byte>> parts);

/// The files of one command: what it writes must not take the place of what it reads, or of something else that it
/// writes.
class CommandFiles {
 public:
  /// A file that is read. An empty name is none.
  void reads(const std::filesystem::path& file);

  /// check_output_file(); throws UserError, naming `option` and the file, when it is one of the others, by whatever
  /// name. An empty name is none.
  void writes(const std::filesystem::path& file, std::string_view option);

 private:
  std::vector<std::filesystem::path> taken_;  ///< where they really lie
};

}  // namespace monojit::tools
