#include "codegen/comgr/library.h"

#include <array>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include "codegen/error.h"
#include "environment/variables.h"

namespace monojit::codegen::comgr {
namespace {

constexpr std::array kNames = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};

std::vector<std::string> names_to_try() {
  if (const char* chosen = environment::value(environment::Id::kComgrLibrary)) return {chosen};
  return {kNames.begin(), kNames.end()};
}

void* open_first(std::span<const std::string> names, int flags, std::vector<std::string>& problems) {
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), flags)) return handle;
    const char* problem = dlerror();
    problems.push_back(fmt::format("{}: {}", name, problem == nullptr ? "not found" : problem));
  }
  return nullptr;
}

std::string path_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr) return {};
  return map->l_name;
}

}  // namespace

const Library& Library::instance() {
  static const Library library(names_to_try());
  return library;
}

Library::Library(std::span<const std::string> names) {
  std::vector<std::string> problems;
  void* handle = open_first(names, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD, problems);
  problems.clear();
  if (handle == nullptr) handle = open_first(names, RTLD_NOW | RTLD_LOCAL, problems);
  if (handle == nullptr) {
    throw CodegenError(
        fmt::format("comgr, which compiles kernels, can't be opened ({}): install ROCm 7 or newer, or set "
                    "MONOJIT_COMGR_LIBRARY to its libamd_comgr.so",
                    fmt::join(problems, "; ")));
  }
  path_ = path_of(handle);
  resolve(handle);
}

void Library::resolve(void* handle) {
  const auto symbol = [&](const char* name) {
    void* address = dlsym(handle, name);
    if (address == nullptr) {
      throw CodegenError(
          fmt::format("{} has no {}: it is not comgr, or too old (ROCm 7 or newer is needed)", path_, name));
    }
    return address;
  };
#define MONOJIT_COMGR_FUNCTION(name) name = reinterpret_cast<decltype(name)>(symbol("amd_comgr_" #name));
#include "codegen/comgr/functions.inc"
#undef MONOJIT_COMGR_FUNCTION
}

std::string Library::version() const {
  std::size_t major = 0;
  std::size_t minor = 0;
  get_version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

void Library::check(amd_comgr_status_t status, const char* call) const {
  if (status == AMD_COMGR_STATUS_SUCCESS) return;
  const char* text = nullptr;
  if (status_string(status, &text) != AMD_COMGR_STATUS_SUCCESS || text == nullptr) text = "unknown status";
  throw CodegenError(fmt::format("amd_comgr_{}: {} ({})", call, text, static_cast<int>(status)));
}

}  // namespace monojit::codegen::comgr
