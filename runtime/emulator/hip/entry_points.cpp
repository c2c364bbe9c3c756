// HIP: functions by name, and the profiler's switches.
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::require;

namespace {

constexpr int kFirstVersionWithNewProperties = 600;

/// An exported function of this library, or null.
void* own_function(const char* name) {
  static void* const self = [] {
    Dl_info info{};
    return dladdr(reinterpret_cast<void*>(&hipInit), &info) != 0 ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                                                                 : nullptr;
  }();
  return self == nullptr ? nullptr : dlsym(self, name);
}

/// Since ROCm 6 the plain name means the newer layout.
const char* versioned(const char* name, int version) {
  const bool renamed = std::string_view(name) == "hipGetDeviceProperties";
  return renamed && version >= kFirstVersionWithNewProperties ? "hipGetDevicePropertiesR0600" : name;
}

}  // namespace

extern "C" {

hipError_t hipGetProcAddress(const char* name, void** function, int version, uint64_t,
                             hipDriverProcAddressQueryResult* status) {
  return guarded([&] {
    require(name, "symbol");
    require(function, "function");
    *function = own_function(versioned(name, version));
    if (status != nullptr)
      *status = *function != nullptr ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (*function == nullptr)
      throw HipError(hipErrorInvalidValue, fmt::format("the emulator has no function {}", name));
  });
}

hipError_t hipProfilerStart() {
  return guarded([] { refuse_unsupported("hipProfilerStart: the emulator has `monojit emulate --profile`"); });
}

hipError_t hipProfilerStop() {
  return guarded([] { refuse_unsupported("hipProfilerStop: the emulator has `monojit emulate --profile`"); });
}

}  // extern "C"
