#include "runtime/emulator/hip/runtime.h"

#include <fmt/format.h>

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

thread_local hipError_t last_error = hipSuccess;
thread_local std::string fault_text;

}  // namespace

Runtime::Runtime(const Settings& settings)
    : settings_(settings),
      isa_(best_host_isa()),
      decoder_(settings_.chip, settings_.matrix, isa_),
      scheduler_(settings_, allocations_) {}

Runtime& Runtime::get() {
  Configuration& state = configuration();
  const std::lock_guard lock(state.mutex);
  if (state.runtime == nullptr) {
    if (!state.settings) state.settings = settings_from_environment();
    try {
      state.runtime.reset(new Runtime(*state.settings));
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
    if (name == "chip" || name == "matrix") {
      throw Failure(FailureKind::kInvalidValue,
                    fmt::format("emulator option {}: too late, the device is in use", name));
    }
    const std::lock_guard launches(state.runtime->launch_mutex_);
    state.runtime->settings_ = next;
  }
  state.settings = next;
}

hipModule_t Runtime::load(const void* image) {
  auto handle = std::make_unique<ihipModule_t>();
  const u64 bytes = elf_file_bytes(image);
  handle->module =
      std::make_unique<Module>(std::span(static_cast<const u8*>(image), bytes), settings_.chip, allocations_);
  const std::lock_guard lock(handle_mutex_);
  modules_.insert(handle.get());
  return handle.release();
}

void Runtime::unload(hipModule_t handle) {
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

void Runtime::launch(const LaunchRequest& request) {
  const std::lock_guard lock(launch_mutex_);
  LaunchReport report;
  try {
    report = scheduler_.run(request);
  } catch (const Failure& failure) {
    const bool refused = failure.kind() == FailureKind::kInvalidLaunch || failure.kind() == FailureKind::kNotCoResident;
    if (refused) throw;
    const std::lock_guard state(state_mutex_);
    launch_failure_ = failure;
    return;
  }
  const std::lock_guard state(state_mutex_);
  launch_failure_.reset();
  const auto count = [&](CountClass c) { return report.counts[static_cast<u32>(c)]; };
  ++counters_.launches;
  counters_.wave_instructions += count(CountClass::kAll);
  counters_.vector += count(CountClass::kVector);
  counters_.scalar += count(CountClass::kScalar);
  counters_.scalar_memory += count(CountClass::kScalarMemory);
  counters_.vector_memory += count(CountClass::kVectorMemory);
  counters_.lds += count(CountClass::kLds);
  counters_.mfma += count(CountClass::kMatrix);
  counters_.other += count(CountClass::kOther);
  counters_.mfma_with_partial_exec += report.stray_matrix_ops;
  counters_.buffer_parts_out_of_range += report.out_of_range_buffer_lanes;
  counters_.seconds += report.seconds;
}

void Runtime::synchronize() {
  const std::lock_guard launches(launch_mutex_);
  const std::lock_guard state(state_mutex_);
  if (launch_failure_) throw Failure(*launch_failure_);
}

MonojitEmulatorCounters Runtime::counters() {
  const std::lock_guard state(state_mutex_);
  return counters_;
}

void Runtime::reset_counters() {
  const std::lock_guard state(state_mutex_);
  counters_ = {};
}

hipError_t error_code(FailureKind kind) {
  switch (kind) {
    case FailureKind::kInvalidValue:
      return hipErrorInvalidValue;
    case FailureKind::kInvalidImage:
      return hipErrorInvalidImage;
    case FailureKind::kWrongChip:
      return hipErrorNoBinaryForGpu;
    case FailureKind::kNotFound:
      return hipErrorNotFound;
    case FailureKind::kOutOfMemory:
      return hipErrorOutOfMemory;
    case FailureKind::kInvalidLaunch:
      return hipErrorInvalidConfiguration;
    case FailureKind::kNotCoResident:
      return hipErrorCooperativeLaunchTooLarge;
    case FailureKind::kIllegalAddress:
      return hipErrorIllegalAddress;
    case FailureKind::kIllegalInstruction:
      return hipErrorLaunchFailure;
    case FailureKind::kDeadlock:
      return hipErrorLaunchTimeOut;
    case FailureKind::kTrap:
      return hipErrorAssert;
    case FailureKind::kNotInitialized:
      return hipErrorNotInitialized;
  }
  return hipErrorUnknown;
}

hipError_t remember_error(hipError_t code, const std::string& text) {
  last_error = code;
  fault_text = text;
  return code;
}

hipError_t take_last_error() { return std::exchange(last_error, hipSuccess); }
hipError_t peek_last_error() { return last_error; }
const std::string& last_fault_text() { return fault_text; }

void refuse_null(const char* name) { throw Failure(FailureKind::kInvalidValue, fmt::format("{} is null", name)); }

}  // namespace monojit::emulator
