// monojitEmulatorSetProfiling(), monojitEmulatorSetTracing(), and what they collect, as JSON.
#include "runtime/emulator/hip/observe.h"

#include <atomic>

#include <nlohmann/json.hpp>

#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

using Json = nlohmann::ordered_json;

struct Observed {
  std::atomic<bool> profiling{false};
  std::atomic<bool> tracing{false};
  Profile profile;
  Trace trace;
};

Observed& observed() {
  static Observed* const instance = new Observed;  // never destroyed: launches may outlive any order of destruction
  return *instance;
}

const char* class_name(CountClass count) {
  constexpr const char* kNames[kCountClasses] = {"all",           "vector", "scalar", "scalar_memory",
                                                 "vector_memory", "lds",    "mfma",   "other"};
  return kNames[static_cast<std::size_t>(count)];
}

Json kernel_json(const ProfiledKernel& kernel) {
  double ticks = 0;
  for (const ProfiledInstruction& instruction : kernel.instructions) ticks += instruction.ticks;
  Json instructions = Json::array();
  for (const ProfiledInstruction& each : kernel.instructions) {
    instructions.push_back({{"address", each.address},
                            {"text", each.text},
                            {"source", each.source},
                            {"class", class_name(each.count)},
                            {"executions", each.dropped ? Json(nullptr) : Json(each.executions)},
                            {"out_of_range", each.out_of_range},
                            {"time_share", ticks > 0 ? each.ticks / ticks : 0}});
  }
  return {{"kernel", kernel.name}, {"launches", kernel.launches}, {"instructions", std::move(instructions)}};
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Profile* active_profile() { return observed().profiling ? &observed().profile : nullptr; }
Trace* active_trace() { return observed().tracing ? &observed().trace : nullptr; }

}  // namespace monojit::emulator

extern "C" {

void monojitEmulatorSetProfiling(int on) { monojit::emulator::observed().profiling = on != 0; }

const char* monojitEmulatorTakeProfile(void) {
  using namespace monojit::emulator;
  static thread_local std::string text;
  Json kernels = Json::array();
  for (const ProfiledKernel& kernel : observed().profile.kernels()) kernels.push_back(kernel_json(kernel));
  observed().profile.clear();
  text = text_of({{"kernels", std::move(kernels)}});
  return text.c_str();
}

void monojitEmulatorSetTracing(int on) { monojit::emulator::observed().tracing = on != 0; }

const char* monojitEmulatorTakeTrace(void) {
  using namespace monojit::emulator;
  static thread_local std::string text;
  text = trace_json(observed().trace.take());
  return text.c_str();
}

}  // extern "C"
