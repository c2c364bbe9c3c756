#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace monojit::tools {

/// A cache folder that lives as long as this.
class TemporaryFolder {
 public:
  TemporaryFolder() { std::filesystem::create_directories(path_); }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("monojit-bench-" + std::to_string(getpid()));
};

}  // namespace monojit::tools
