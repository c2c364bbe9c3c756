#include "runtime/emulator/hip/runtime.h"

#include <cstdlib>

#include <fmt/format.h>

#include "runtime/emulator/code/offload_bundle.h"

namespace monojit::emulator {
namespace {

struct Configuration {
  std::mutex mutex;
  std::optional<Settings> settings;
  std::unique_ptr<Runtime> runtime;
};

Configuration& configuration() {
  // Never destroyed: kernels and handles of other static objects may outlive any order of destruction.
  static Configuration* const instance = new Configuration;
  return *instance;
}

thread_local u32 thread_device = 0;

}  // namespace

Runtime::Runtime(const Settings& settings)
    : settings_(settings),
      isa_(settings_.host_isa.value_or(best_host_isa())),
      decoder_(settings_.chip, settings_.matrix, isa_),
      engine_(settings_, allocations_),
      streams_(engine_, settings_.devices) {}

Runtime& Runtime::get() {
  Configuration& state = configuration();
  const std::lock_guard lock(state.mutex);
  if (state.runtime == nullptr) {
    if (!state.settings) state.settings = settings_from_environment();
    check_together(*state.settings);
    try {
      state.runtime.reset(new Runtime(*state.settings));
      // Static objects of other libraries go away while the process ends; no kernel may run by then.
      std::atexit([] { configuration().runtime->engine_.stop(); });
    } catch (const Failure&) {
      throw;
    } catch (const std::exception& error) {
      throw Failure(FailureKind::kNotInitialized, error.what());
    }
  }
  return *state.runtime;
}

void Runtime::set_option(std::string_view name, std::string_view value) {
  Configuration& state = configuration();
  const std::lock_guard lock(state.mutex);
  Settings next = state.settings ? *state.settings : settings_from_environment();
  apply_setting(next, name, value);
  if (state.runtime != nullptr) {
    if (name == "chip" || name == "devices" || name == "matrix" || name == "host_isa") {
      throw Failure(FailureKind::kInvalidValue,
                    fmt::format("emulator option {}: too late, the device is in use", name));
    }
    check_together(next);
    state.runtime->engine_.while_paused([&] { state.runtime->settings_ = next; });
  }
  state.settings = next;
}

hipModule_t Runtime::load(const void* image) {
  auto handle = std::make_unique<ihipModule_t>();
  handle->module =
      std::make_unique<Module>(code_object_in(image, settings_.chip), settings_.chip, allocations_, current_device());
  const std::lock_guard lock(handle_mutex_);
  modules_.insert(handle.get());
  return handle.release();
}

void Runtime::unload(hipModule_t handle) {
  engine_.drain();  // its kernels may be running
  const std::lock_guard lock(handle_mutex_);
  if (modules_.erase(handle) == 0) throw Failure(FailureKind::kInvalidValue, "not a loaded module");
  std::erase_if(kernels_, [&](const Kernel* kernel) { return kernel->module == handle->module.get(); });
  delete handle;
}

Module& Runtime::module_of(hipModule_t handle) {
  const std::lock_guard lock(handle_mutex_);
  if (!modules_.contains(handle)) throw Failure(FailureKind::kInvalidValue, "not a loaded module");
  return *handle->module;
}

const Kernel& Runtime::kernel_of(hipFunction_t handle) {
  const std::lock_guard lock(handle_mutex_);
  const auto* const kernel = reinterpret_cast<const Kernel*>(handle);
  if (!kernels_.contains(kernel)) throw Failure(FailureKind::kInvalidValue, "not a function of a loaded module");
  return *kernel;
}

hipFunction_t Runtime::function(hipModule_t module, const char* name) {
  const Kernel& kernel = module_of(module).kernel(name, decoder_);
  const std::lock_guard lock(handle_mutex_);
  kernels_.insert(&kernel);
  return reinterpret_cast<hipFunction_t>(const_cast<Kernel*>(&kernel));
}

void Runtime::synchronize() { engine_.wait_device(current_device()); }

MonojitEmulatorCounters Runtime::counters() {
  const LaunchTotals totals = engine_.totals();
  const auto count = [&](CountClass c) { return totals.sum.counts[static_cast<u32>(c)]; };
  MonojitEmulatorCounters counters{};
  counters.launches = totals.launches;
  counters.wave_instructions = count(CountClass::kAll);
  counters.vector = count(CountClass::kVector);
  counters.scalar = count(CountClass::kScalar);
  counters.scalar_memory = count(CountClass::kScalarMemory);
  counters.vector_memory = count(CountClass::kVectorMemory);
  counters.lds = count(CountClass::kLds);
  counters.mfma = count(CountClass::kMatrix);
  counters.other = count(CountClass::kOther);
  counters.mfma_with_partial_exec = totals.sum.stray_matrix_ops;
  counters.buffer_parts_out_of_range = totals.sum.out_of_range_buffer_lanes;
  counters.seconds = totals.sum.seconds;
  counters.buffer_rule_differences = totals.sum.buffer_rule_differences;
  const auto loaded = [&](MemorySpace s) { return totals.sum.bytes.loaded[static_cast<u32>(s)]; };
  const auto stored = [&](MemorySpace s) { return totals.sum.bytes.stored[static_cast<u32>(s)]; };
  counters.device_bytes_loaded = loaded(MemorySpace::kDevice);
  counters.device_bytes_stored = stored(MemorySpace::kDevice);
  counters.peer_bytes_loaded = loaded(MemorySpace::kPeer);
  counters.peer_bytes_stored = stored(MemorySpace::kPeer);
  counters.host_bytes_loaded = loaded(MemorySpace::kHost);
  counters.host_bytes_stored = stored(MemorySpace::kHost);
  counters.lds_bytes_loaded = loaded(MemorySpace::kLds);
  counters.lds_bytes_stored = stored(MemorySpace::kLds);
  counters.scratch_bytes_loaded = loaded(MemorySpace::kScratch);
  counters.scratch_bytes_stored = stored(MemorySpace::kScratch);
  return counters;
}

void Runtime::reset_counters() { engine_.reset_totals(); }

u32 current_device() { return thread_device; }

u32 checked_device(int device) {
  const u32 count = Runtime::get().settings().devices;
  if (device >= 0 && static_cast<u32>(device) < count) return static_cast<u32>(device);
  throw HipError(hipErrorInvalidDevice,
                 count == 1 ? fmt::format("device {}: the emulator has one, device 0", device)
                            : fmt::format("device {}: the emulator has devices 0..{}", device, count - 1));
}

void set_current_device(u32 device) { thread_device = device; }

}  // namespace monojit::emulator
