#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::tests {

struct SourceFile {
  std::string path;                   ///< from the project's folder, with '/'
  std::vector<std::string> includes;  ///< what stands between the quotes or brackets, in order
};

/// The included names of one source text.
std::vector<std::string> includes_of(std::string_view text);

/// Every C++ file below the given folders of the project, in the order of their paths.
std::vector<SourceFile> read_sources(const std::filesystem::path& project,
                                     const std::vector<std::string_view>& folders);

}  // namespace monojit::tests
