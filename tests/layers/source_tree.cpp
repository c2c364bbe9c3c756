#include "tests/layers/source_tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ranges>
#include <stdexcept>

namespace monojit::tests {
namespace {

std::string_view trim_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("can't read " + path.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool is_cpp(const std::filesystem::path& path) {
  return path.extension() == ".h" || path.extension() == ".cpp" || path.extension() == ".inc";
}

}  // namespace

std::vector<std::string> includes_of(std::string_view text) {
  std::vector<std::string> names;
  for (const auto range : std::views::split(text, '\n')) {
    std::string_view line = trim_left({range.begin(), range.end()});
    if (!line.starts_with('#')) continue;
    line = trim_left(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim_left(line.substr(std::string_view("include").size()));
    if (line.empty() || (line.front() != '"' && line.front() != '<')) continue;
    const std::size_t end = line.find(line.front() == '"' ? '"' : '>', 1);
    if (end != std::string_view::npos) names.emplace_back(line.substr(1, end - 1));
  }
  return names;
}

std::vector<SourceFile> read_sources(const std::filesystem::path& project,
                                     const std::vector<std::string_view>& folders) {
  std::vector<SourceFile> sources;
  for (const std::string_view folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(project / folder)) {
      if (!entry.is_regular_file() || !is_cpp(entry.path())) continue;
      sources.push_back({entry.path().lexically_relative(project).generic_string(), includes_of(read(entry.path()))});
    }
  }
  std::ranges::sort(sources, {}, &SourceFile::path);
  return sources;
}

}  // namespace monojit::tests
