#include "tests/emulator/programs/compile.h"

#include <stdexcept>

#include <dlfcn.h>
#include <fmt/format.h>

#include "codegen/comgr/handles.h"
#include "codegen/comgr/library.h"

namespace monojit::emulator::test {
namespace {

using codegen::comgr::ActionInfo;
using codegen::comgr::Data;
using codegen::comgr::DataSet;
using codegen::comgr::Library;

// The product compiles no source, so its table of comgr's functions lacks this one.
void choose_opencl(const Library& library, amd_comgr_action_info_t info) {
  constexpr const char* kFunction = "amd_comgr_action_info_set_language";
  void* const handle = dlopen(library.path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) throw std::runtime_error("comgr is not loaded: " + library.path());
  const auto set_language = reinterpret_cast<decltype(&amd_comgr_action_info_set_language)>(dlsym(handle, kFunction));
  dlclose(handle);
  if (set_language == nullptr) throw std::runtime_error(library.path() + " lacks " + kFunction);
  library.check(set_language(info, AMD_COMGR_LANGUAGE_OPENCL_2_0), "action_info_set_language");
}

std::string messages(const DataSet& results) {
  std::string text;
  for (std::size_t i = 0; i < results.count(AMD_COMGR_DATA_KIND_LOG); ++i) {
    const auto bytes = results.bytes(AMD_COMGR_DATA_KIND_LOG, i);
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

}  // namespace

std::vector<std::byte> compile_opencl(std::string_view source, const std::string& name, std::string_view arch,
                                      const std::vector<std::string>& options) {
  const Library& library = Library::instance();
  DataSet inputs(library);
  const auto* const bytes = reinterpret_cast<const std::byte*>(source.data());
  inputs.add(Data(library, AMD_COMGR_DATA_KIND_SOURCE, name.c_str(), {bytes, source.size()}));
  const DataSet results(library);
  const ActionInfo info(library, fmt::format("amdgcn-amd-amdhsa--{}", arch), options);
  choose_opencl(library, info.get());
  const auto status =
      library.do_action(AMD_COMGR_ACTION_COMPILE_SOURCE_TO_EXECUTABLE, info.get(), inputs.get(), results.get());
  if (status != AMD_COMGR_STATUS_SUCCESS || results.count(AMD_COMGR_DATA_KIND_EXECUTABLE) != 1) {
    throw std::runtime_error(fmt::format("compiling {} for {} failed: {}", name, arch, messages(results)));
  }
  return results.bytes(AMD_COMGR_DATA_KIND_EXECUTABLE, 0);
}

}  // namespace monojit::emulator::test
