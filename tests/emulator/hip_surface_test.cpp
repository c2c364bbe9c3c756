// The library as programs find it: the list of calls in the documentation is the list of exported functions, and a
// program that asks for each function by name can load and launch a kernel.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <dlfcn.h>
#include <elf.h>

#include "tests/emulator/hip_fixture.h"

namespace monojit::emulator::test {
namespace {

std::vector<char> read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string library_path() {
  Dl_info info{};
  REQUIRE(dladdr(reinterpret_cast<void*>(&hipInit), &info) != 0);
  return info.dli_fname;
}

/// Names of the functions that an ELF library defines for others.
std::set<std::string> exported_functions(const std::string& path) {
  const std::vector<char> file = read_file(path);
  const auto at = [&]<class T>(T value, std::size_t offset) {
    std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
  };
  const auto header = at(Elf64_Ehdr{}, 0);
  const auto section = [&](std::size_t index) { return at(Elf64_Shdr{}, header.e_shoff + index * sizeof(Elf64_Shdr)); };
  std::set<std::string> names;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_DYNSYM) continue;
    const Elf64_Shdr strings = section(symbols.sh_link);
    for (std::size_t k = 1; k < symbols.sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = at(Elf64_Sym{}, symbols.sh_offset + k * sizeof(Elf64_Sym));
      if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        names.insert(file.data() + strings.sh_offset + symbol.st_name);
    }
  }
  return names;
}

/// `hip...` and `monojitEmulator...` names in the first column of the page's tables.
std::set<std::string> documented_functions() {
  const std::vector<char> page = read_file(MONOJIT_TEST_DOCS "/emulator-hip.md");
  const std::string text(page.begin(), page.end());
  const std::regex row(R"(\n\|([^|\n]*)\|)"), name(R"(`((?:hip|monojitEmulator)\w+)`)");
  std::set<std::string> names;
  for (auto r = std::sregex_iterator(text.begin(), text.end(), row); r != std::sregex_iterator(); ++r) {
    const std::string cell = (*r)[1];
    for (auto n = std::sregex_iterator(cell.begin(), cell.end(), name); n != std::sregex_iterator(); ++n)
      names.insert((*n)[1]);
  }
  return names;
}

TEST_CASE("the documentation lists every exported function, and no other") {
  const auto exported = exported_functions(library_path()), documented = documented_functions();
  REQUIRE(exported.size() > 100);
  std::vector<std::string> missing, invented;
  std::ranges::set_difference(exported, documented, std::back_inserter(missing));
  std::ranges::set_difference(documented, exported, std::back_inserter(invented));
  CHECK(missing == std::vector<std::string>{});
  CHECK(invented == std::vector<std::string>{});
}

/// A function by name, as a program finds it that was not linked with HIP.
template <class Function>
Function* find(const char* name) {
  static auto* const resolve = [] {
    void* const library = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    return reinterpret_cast<decltype(&hipGetProcAddress)>(dlsym(library, "hipGetProcAddress"));
  }();
  void* function = nullptr;
  hipDriverProcAddressQueryResult status{};
  REQUIRE(resolve(name, &function, 602, 0, &status) == hipSuccess);
  REQUIRE(status == HIP_GET_PROC_ADDRESS_SUCCESS);
  return reinterpret_cast<Function*>(function);
}
#define MONOJIT_FIND(name) find<decltype(name)>(#name)

// HIP marks contexts as deprecated; launchers use them all the same.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST_CASE("a launcher that finds functions by name loads, describes and launches a kernel") {
  REQUIRE(MONOJIT_FIND(hipInit)(0) == hipSuccess);
  hipDevice_t device = -1;
  REQUIRE(MONOJIT_FIND(hipDeviceGet)(&device, 0) == hipSuccess);
  hipCtx_t context = nullptr, current = nullptr;
  REQUIRE(MONOJIT_FIND(hipDevicePrimaryCtxRetain)(&context, device) == hipSuccess);
  REQUIRE(MONOJIT_FIND(hipCtxSetCurrent)(context) == hipSuccess);
  REQUIRE(MONOJIT_FIND(hipCtxGetCurrent)(&current) == hipSuccess);
  CHECK(current == context);
  hipDeviceProp_t properties;
  REQUIRE(find<hipError_t(hipDeviceProp_t*, int)>("hipGetDeviceProperties")(&properties, device) == hipSuccess);
  CHECK(properties.warpSize == 64);

  const auto object = assemble(scale_kernel());
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  REQUIRE(MONOJIT_FIND(hipModuleLoadDataEx)(&module, object.data(), 0, nullptr, nullptr) == hipSuccess);
  REQUIRE(MONOJIT_FIND(hipModuleGetFunction)(&function, module, "scale") == hipSuccess);
  int registers = 0;
  REQUIRE(MONOJIT_FIND(hipFuncGetAttribute)(&registers, HIP_FUNC_ATTRIBUTE_NUM_REGS, function) == hipSuccess);
  CHECK(registers == 64);

  Words words;
  words.upload(std::vector<std::uint32_t>(64, 6));
  struct {
    void *in, *out;
    std::uint64_t factor;
  } packed{words.get(), words.get(), 7};
  std::size_t bytes = sizeof packed;
  void* config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                    HIP_LAUNCH_PARAM_END};
  REQUIRE(MONOJIT_FIND(hipModuleLaunchKernel)(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, config) == hipSuccess);
  REQUIRE(MONOJIT_FIND(hipStreamSynchronize)(nullptr) == hipSuccess);
  CHECK(words.download() == std::vector<std::uint32_t>(64, 42));
  REQUIRE(MONOJIT_FIND(hipModuleUnload)(module) == hipSuccess);
  REQUIRE(MONOJIT_FIND(hipDevicePrimaryCtxRelease)(device) == hipSuccess);
}
#pragma GCC diagnostic pop
#undef MONOJIT_FIND

TEST_CASE("a function that the emulator lacks is told as such") {
  void* function = nullptr;
  hipDriverProcAddressQueryResult status{};
  CHECK(hipGetProcAddress("hipMallocArray", &function, 602, 0, &status) == hipErrorInvalidValue);
  CHECK(status == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK(function == nullptr);
  CHECK_THAT(last_fault(), ContainsSubstring("the emulator has no function hipMallocArray"));
}

}  // namespace
}  // namespace monojit::emulator::test
