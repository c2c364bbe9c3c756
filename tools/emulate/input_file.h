#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

/// Files that the user names to be read.
namespace monojit::tools {

/// Throws UserError: `file` can't be used as `what`, and why.
[[noreturn]] void refuse_input(const std::filesystem::path& file, std::string_view what, std::string_view reason);

/// A regular file that is read from the front. Every failure is a UserError that names it.
class InputFile {
 public:
  /// `what` the file is to be: "a .npy file".
  InputFile(std::filesystem::path file, std::string_view what);

  /// Fills `to` with the next bytes; fewer left is a failure.
  void read(std::span<std::byte> to);
  [[nodiscard]] std::uint64_t left() const { return left_; }
  [[noreturn]] void refuse(std::string_view reason) const { refuse_input(file_, what_, reason); }

 private:
  std::filesystem::path file_;
  std::string_view what_;
  std::ifstream stream_;
  std::uint64_t left_ = 0;
};

/// All of a file.
std::vector<std::byte> read_whole(const std::filesystem::path& file, std::string_view what);

}  // namespace monojit::tools
