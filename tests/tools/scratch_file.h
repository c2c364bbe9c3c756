#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace monojit::tools {

/// A file of one test alone, removed with it.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& suffix) : path_(fresh_path(suffix)) {}
  ScratchFile(const std::string& suffix, const std::string& content) : ScratchFile(suffix) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  static std::filesystem::path fresh_path(const std::string& suffix) {
    static std::atomic<int> count{0};
    return std::filesystem::temp_directory_path() /
           ("monojit_scratch_" + std::to_string(getpid()) + "_" + std::to_string(count++) + suffix);
  }

  std::filesystem::path path_;
};

}  // namespace monojit::tools
