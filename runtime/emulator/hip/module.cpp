// HIP: modules and what is in them.
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::require;
using monojit::emulator::Runtime;

namespace {

hipError_t load(hipModule_t* module, const void* image) {
  return guarded([&] {
    require(module, "module");
    require(image, "image");
    *module = nullptr;
    *module = Runtime::get().load(image);
  });
}

/// With zeros behind it, so that a search for a header's end stops.
std::vector<char> read_file(const char* name) {
  constexpr std::size_t kPadding = 4096;
  std::ifstream file(name, std::ios::binary);
  if (!file) throw HipError(hipErrorFileNotFound, fmt::format("module file {}: {}", name, std::strerror(errno)));
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.empty()) throw Failure(FailureKind::kInvalidImage, fmt::format("module file {}: empty", name));
  bytes.resize(bytes.size() + kPadding);
  return bytes;
}

}  // namespace

extern "C" {

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) { return load(module, image); }

hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int, hipJitOption*, void**) {
  return load(module, image);
}

hipError_t hipModuleLoadFatBinary(hipModule_t* module, const void* image) { return load(module, image); }

hipError_t hipModuleLoad(hipModule_t* module, const char* name) {
  return guarded([&] {
    require(module, "module");
    require(name, "name");
    *module = Runtime::get().load(read_file(name).data());
  });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return guarded([&] { Runtime::get().unload(module); });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return guarded([&] {
    require(function, "function");
    require(name, "name");
    *function = Runtime::get().function(module, name);
  });
}

hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t module) {
  return guarded([&] {
    require(count, "count");
    *count = static_cast<unsigned int>(Runtime::get().module_of(module).image().kernel_names().size());
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, std::size_t* bytes, hipModule_t module, const char* name) {
  return guarded([&] {
    require(name, "name");
    const auto [address, size] = Runtime::get().module_of(module).variable(name);
    if (address == nullptr)
      throw Failure(FailureKind::kNotFound, fmt::format("no variable {} in the code object", name));
    if (pointer != nullptr) *pointer = address;
    if (bytes != nullptr) *bytes = size;
  });
}

hipError_t hipModuleGetTexRef(textureReference**, hipModule_t, const char*) {
  return guarded(
      [] { refuse_unsupported("hipModuleGetTexRef: the emulator has no textures, as the chips have none"); });
}

const char* hipKernelNameRef(const hipFunction_t function) {
  const char* name = nullptr;
  static_cast<void>(guarded([&] { name = Runtime::get().kernel_of(function).name.c_str(); }));
  return name;
}

}  // extern "C"
