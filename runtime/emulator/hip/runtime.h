// The emulated devices behind the HIP functions, and how these report errors.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <hip/hip_runtime_api.h>

#include "runtime/emulator/code/module.h"
#include "runtime/emulator/decode/decoder.h"
#include "runtime/emulator/emulator.h"
#include "runtime/emulator/failure.h"
#include "runtime/emulator/hip/engine.h"
#include "runtime/emulator/hip/errors.h"
#include "runtime/emulator/hip/memory_table.h"
#include "runtime/emulator/hip/stream.h"
#include "runtime/emulator/memory/allocations.h"
#include "runtime/emulator/settings.h"

// A handle that HIP's headers leave open. It is global by definition of the C interface.
struct ihipModule_t {
  std::unique_ptr<monojit::emulator::Module> module;
};

namespace monojit::emulator {

/// The process's emulated devices, made by the first call that needs one.
class Runtime {
 public:
  /// Throws Failure (kNotInitialized) for bad settings or a host without AVX2.
  static Runtime& get();
  /// Changes a setting. Chip, devices and matrix model only before the devices exist. Throws Failure.
  static void set_option(std::string_view name, std::string_view value);

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] Allocations& allocations() { return allocations_; }
  [[nodiscard]] MemoryTable& memory() { return memory_; }
  [[nodiscard]] const Decoder& decoder() const { return decoder_; }
  [[nodiscard]] HostIsa host_isa() const { return isa_; }
  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] Streams& streams() { return streams_; }

  /// Loads for the calling thread's current device.
  hipModule_t load(const void* image);
  void unload(hipModule_t module);
  [[nodiscard]] Module& module_of(hipModule_t handle);
  /// The kernel behind a function handle. Throws Failure (kInvalidValue) if it is none.
  [[nodiscard]] const Kernel& kernel_of(hipFunction_t handle);
  [[nodiscard]] hipFunction_t function(hipModule_t module, const char* name);

  /// Until the current device has done all its work. Throws the failure of a launch, if there was one.
  void synchronize();

  [[nodiscard]] MonojitEmulatorCounters counters();
  void reset_counters();

 private:
  explicit Runtime(const Settings& settings);

  Settings settings_;
  HostIsa isa_;
  Allocations allocations_;
  MemoryTable memory_{allocations_};
  Decoder decoder_;
  Engine engine_;
  Streams streams_;
  std::mutex handle_mutex_;
  std::set<hipModule_t> modules_;
  std::set<const Kernel*> kernels_;
};

/// The calling thread's device (hipSetDevice).
[[nodiscard]] u32 current_device();
/// Throws HipError (hipErrorInvalidDevice) naming the devices there are.
[[nodiscard]] u32 checked_device(int device);
void set_current_device(u32 device);

}  // namespace monojit::emulator
