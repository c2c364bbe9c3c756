#include "runtime/hip/table.h"

#include <array>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "environment/variables.h"
#include "kernels/common/error.h"
#include "runtime/hip/device_error.h"
#include "runtime/library_search.h"

namespace monojit::runtime {
namespace {

constexpr std::array kHipNames = {"libamdhip64.so.8", "libamdhip64.so.7", "libamdhip64.so.6"};
constexpr const char* kEmulatorName = "libmonojit_hip_emulator.so";

std::string loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "no reason given by the loader";
}

/// A library that the process uses already: taking a second one would split the device's state in two.
void* loaded_hip(std::string& name) {
  for (const char* candidate : kHipNames) {
    if (void* handle = dlopen(candidate, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return name = candidate, handle;
  }
  return nullptr;
}

template <class Function>
void bind(Function*& slot, void* handle, const char* name, const std::string& library) {
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr) {
    throw UserError(
        fmt::format("{} has no function {}: it is no HIP library of ROCm 6 or newer (set MONOJIT_HIP_LIBRARY "
                    "to one, or use --device emulator)",
                    library, name));
  }
  slot = reinterpret_cast<Function*>(symbol);
}

}  // namespace

HipTable::HipTable(void* handle, std::string library, Provider provider)
    : handle_(handle), library_(std::move(library)), provider_(provider) {
  if (handle_ == nullptr) return;
#define MONOJIT_HIP_FUNCTION(name, parameters) bind(name, handle_, #name, library_);
#include "runtime/hip/functions.inc"
#undef MONOJIT_HIP_FUNCTION
  bind(hipGetErrorName, handle_, "hipGetErrorName", library_);
  bind(hipGetErrorString, handle_, "hipGetErrorString", library_);
}

std::shared_ptr<HipTable> HipTable::empty(std::string library, Provider provider) {
  return std::shared_ptr<HipTable>(new HipTable(nullptr, std::move(library), provider));
}

void* HipTable::optional_symbol(const char* name) const { return handle_ != nullptr ? dlsym(handle_, name) : nullptr; }

std::string HipTable::last_fault() const {
  void* symbol = optional_symbol("monojitEmulatorLastFault");
  if (symbol == nullptr) return {};
  const char* text = reinterpret_cast<const char* (*)()>(symbol)();
  return text != nullptr ? text : "";
}

void HipTable::fail(hipError_t code, const char* call) const {
  throw DeviceError(call, code, hipGetErrorName(code), hipGetErrorString(code), last_fault());
}

std::shared_ptr<const HipTable> HipTable::open_file(const std::filesystem::path& file, Provider provider) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw UserError(fmt::format("can't load the HIP library {}: {}", file.string(), loader_error()));
  return std::shared_ptr<const HipTable>(new HipTable(handle, file.string(), provider));
}

std::shared_ptr<const HipTable> HipTable::search(Provider provider) {
  const char* chosen = environment::value(environment::Id::kHipLibrary);
  if (provider == Provider::kHip && chosen != nullptr) return open_file(chosen, provider);

  std::string name;
  if (provider == Provider::kHip) {
    if (void* handle = loaded_hip(name)) return std::shared_ptr<const HipTable>(new HipTable(handle, name, provider));
  }
  std::vector<std::filesystem::path> candidates(kHipNames.begin(), kHipNames.end());
  if (provider == Provider::kEmulator) candidates = library_candidates(kEmulatorName);
  std::vector<std::string> tried;
  for (const std::filesystem::path& candidate : candidates) {
    if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return std::shared_ptr<const HipTable>(new HipTable(handle, candidate.string(), provider));
    }
    tried.push_back(loader_error());
  }
  throw UserError(fmt::format(
      "{} could not be loaded; tried: {}. {}", provider == Provider::kHip ? "the HIP library" : "the emulator",
      fmt::join(tried, "; "),
      provider == Provider::kHip
          ? "Install ROCm 6 or newer, set MONOJIT_HIP_LIBRARY to its libamdhip64.so, or use --device emulator"
          : "Set MONOJIT_LIBRARY_DIR to the folder that holds it"));
}

std::shared_ptr<const HipTable> HipTable::open(Provider provider) {
  static std::mutex mutex;
  static std::array<std::shared_ptr<const HipTable>, 2> opened;
  const std::scoped_lock lock(mutex);
  auto& table = opened.at(static_cast<std::size_t>(provider));
  if (table == nullptr) table = search(provider);
  return table;
}

}  // namespace monojit::runtime
