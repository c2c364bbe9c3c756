// The entry points of emulator.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::guarded;
using monojit::emulator::HostIsa;
using monojit::emulator::last_fault_text;
using monojit::emulator::MatrixModel;
using monojit::emulator::require;
using monojit::emulator::Runtime;

namespace {

const char* matrix_name(MatrixModel model) {
  switch (model) {
    case MatrixModel::kCdna3:
      return "cdna3";
    case MatrixModel::kFmaChain:
      return "fma-chain";
    case MatrixModel::kExact:
      return "exact";
  }
  return "";
}

/// What callers of the first version have room for.
constexpr std::uint64_t kFirstCountersBytes = offsetof(MonojitEmulatorCounters, device_bytes_loaded);

}  // namespace

extern "C" {

int monojitEmulatorCounters(MonojitEmulatorCounters* counters) {
  if (counters == nullptr || counters->struct_bytes < kFirstCountersBytes) return 1;
  return guarded([&] {
           MonojitEmulatorCounters all = Runtime::get().counters();
           all.struct_bytes = std::min<std::uint64_t>(counters->struct_bytes, sizeof all);
           std::memcpy(counters, &all, all.struct_bytes);
         }) == hipSuccess
             ? 0
             : 1;
}

void monojitEmulatorResetCounters(void) {
  static_cast<void>(guarded([] { Runtime::get().reset_counters(); }));
}

const char* monojitEmulatorLastFault(void) { return last_fault_text().c_str(); }

int monojitEmulatorSetOption(const char* name, const char* value) {
  return guarded([&] {
           require(name, "name");
           require(value, "value");
           Runtime::set_option(name, value);
         }) == hipSuccess
             ? 0
             : 1;
}

const char* monojitEmulatorDescribe(void) {
  static thread_local std::string text;
  const auto error = guarded([] {
    const auto& runtime = Runtime::get();
    const auto& settings = runtime.settings();
    // The model is fitted to gfx942's silicon; for gfx950 nothing is public.
    const bool assumed = settings.chip.arch == "gfx950" && settings.matrix == MatrixModel::kCdna3;
    text = fmt::format(
        "{} emulator: {} compute units, matrix model {}{}, host {}, {} thread{}", settings.chip.arch,
        settings.chip.compute_units, matrix_name(settings.matrix), assumed ? " (assumed for this chip)" : "",
        runtime.host_isa() == HostIsa::kX86V4 ? "AVX-512" : "AVX2", settings.threads, settings.threads == 1 ? "" : "s");
  });
  return error == hipSuccess ? text.c_str() : last_fault_text().c_str();
}

const char* monojitEmulatorMatrixModel(void) {
  const char* name = nullptr;
  static_cast<void>(guarded([&] { name = matrix_name(Runtime::get().settings().matrix); }));
  return name;
}

}  // extern "C"
