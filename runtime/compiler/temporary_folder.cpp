#include "runtime/compiler/temporary_folder.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "kernels/common/error.h"

namespace monojit::runtime {
namespace {

/// LLVM's, in its order.
constexpr std::array kVariables = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"};
constexpr const char* kWish = "the compiler wants a folder for temporary files";

struct Place {
  std::filesystem::path folder = "/tmp";
  std::string shown = "/tmp";  ///< with the variable that names it
};

Place place() {
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return {value, fmt::format("{}={}", name, value)};
  }
  return {};
}

}  // namespace

std::filesystem::path make_temporary_folder(std::string_view prefix) {
  const Place parent = place();
  std::error_code error;
  if (!std::filesystem::is_directory(parent.folder, error))
    throw UserError(fmt::format("{} is no folder: {} (set TMPDIR)", parent.shown, kWish));
  std::string path = parent.folder / fmt::format("{}XXXXXX", prefix);
  if (mkdtemp(path.data()) == nullptr) {
    throw UserError(fmt::format("{} takes no files ({}): {} (set TMPDIR)", parent.shown,
                                std::generic_category().message(errno), kWish));
  }
  return path;
}

void check_temporary_folder() {
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    if (*value != '\0') break;
    throw UserError(fmt::format("{} is set, but empty: {} (unset it, or name one)", name, kWish));
  }
  (void)rmdir(make_temporary_folder("monojit-").c_str());
}

}  // namespace monojit::runtime
