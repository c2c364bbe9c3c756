#include "runtime/library_search.h"

#include <system_error>

#include <dlfcn.h>

#include "environment/variables.h"

namespace monojit::runtime {
namespace {

/// The folder of the program or shared library that this code was linked into; empty when the loader can't say.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&library_candidates), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  // A program's name is what it was started with, which need not be a path: the kernel knows better.
  const std::filesystem::path named = info.dli_fname;
  const bool is_path = named.native().find('/') != std::string::npos;
  const std::filesystem::path file = std::filesystem::canonical(is_path ? named : "/proc/self/exe", error);
  return error ? std::filesystem::path() : file.parent_path();
}

}  // namespace

std::vector<std::filesystem::path> library_candidates(std::string_view file_name) {
  if (const char* folder = environment::value(environment::Id::kLibraryDir)) {
    return {std::filesystem::path(folder) / file_name};
  }
  const std::filesystem::path folder = own_folder();
  if (folder.empty()) return {};
  return {folder / file_name, folder.parent_path() / "lib" / file_name};
}

}  // namespace monojit::runtime
