#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <hip/hip_runtime_api.h>

namespace monojit::runtime {

/// Who implements the HIP functions.
enum class Provider : std::uint8_t {
  kHip,       ///< libamdhip64: real AMD GPUs
  kEmulator,  ///< libmonojit_hip_emulator.so: the same functions on the CPU
};

/// The HIP functions of one provider, opened at run time, so that one binary serves every ROCm release and machines
/// with none. A provider stays open until the process ends.
class HipTable {
 public:
  /// The provider's library, opened by the first caller. For kHip: $MONOJIT_HIP_LIBRARY alone when it is set, else a
  /// libamdhip64 that the process has loaded already, else .so.8, .so.7, .so.6. Throws UserError saying what was tried
  /// and what to do.
  static std::shared_ptr<const HipTable> open(Provider provider);
  /// The functions of the library `file`. Throws UserError when it can't be loaded or lacks one of them.
  static std::shared_ptr<const HipTable> open_file(const std::filesystem::path& file, Provider provider);

  /// A table whose functions are all null, for the caller to fill with a stand-in. `library` names it in messages.
  static std::shared_ptr<HipTable> empty(std::string library, Provider provider);

  Provider provider() const { return provider_; }
  /// What was opened, as the loader names it.
  const std::string& library() const { return library_; }

  /// Throws DeviceError when `code`, returned by the HIP function `call`, is not success.
  void check(hipError_t code, const char* call) const {
    if (code != hipSuccess) fail(code, call);
  }

  /// The text behind the calling thread's latest error of the emulator; empty for other providers.
  std::string last_fault() const;

  /// A symbol that only some providers have; null where it is missing.
  void* optional_symbol(const char* name) const;

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator, no expression
#define MONOJIT_HIP_FUNCTION(name, parameters) hipError_t(*name) parameters = nullptr;
#include "runtime/hip/functions.inc"
#undef MONOJIT_HIP_FUNCTION
  const char* (*hipGetErrorName)(hipError_t code) = nullptr;
  const char* (*hipGetErrorString)(hipError_t code) = nullptr;

 private:
  HipTable(void* handle, std::string library, Provider provider);
  [[noreturn]] void fail(hipError_t code, const char* call) const;
  static std::shared_ptr<const HipTable> search(Provider provider);

  void* handle_;
  std::string library_;
  Provider provider_;
};

}  // namespace monojit::runtime
