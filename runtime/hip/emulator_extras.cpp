#include "runtime/hip/emulator_extras.h"

#include <functional>

#include "kernels/common/error.h"
#include "runtime/emulator/emulator.h"

namespace monojit::runtime {
namespace {

/// An entry point of emulator.h. Throws UserError when the library has none of this name.
template <class Function>
Function* entry_point(const HipTable& emulator, const char* name) {
  void* symbol = emulator.optional_symbol(name);
  if (emulator.provider() != Provider::kEmulator || symbol == nullptr)
    throw UserError(emulator.library() + " has no function " + name + ": it is no emulator, or an older one");
  return reinterpret_cast<Function*>(symbol);
}

/// Every field of one with that of another.
template <class Operation>
EmulatorCounts each_field(const EmulatorCounts& a, const EmulatorCounts& b, Operation operation) {
  return {.wave_instructions = operation(a.wave_instructions, b.wave_instructions),
          .vector = operation(a.vector, b.vector),
          .scalar = operation(a.scalar, b.scalar),
          .scalar_memory = operation(a.scalar_memory, b.scalar_memory),
          .vector_memory = operation(a.vector_memory, b.vector_memory),
          .lds = operation(a.lds, b.lds),
          .mfma = operation(a.mfma, b.mfma),
          .other = operation(a.other, b.other),
          .mfma_with_partial_exec = operation(a.mfma_with_partial_exec, b.mfma_with_partial_exec),
          .buffer_parts_out_of_range = operation(a.buffer_parts_out_of_range, b.buffer_parts_out_of_range),
          .seconds = operation(a.seconds, b.seconds),
          .device_bytes = operation(a.device_bytes, b.device_bytes),
          .peer_bytes = operation(a.peer_bytes, b.peer_bytes),
          .host_bytes = operation(a.host_bytes, b.host_bytes),
          .lds_bytes = operation(a.lds_bytes, b.lds_bytes),
          .scratch_bytes = operation(a.scratch_bytes, b.scratch_bytes)};
}

}  // namespace

EmulatorCounts EmulatorCounts::operator-(const EmulatorCounts& before) const {
  return each_field(*this, before, std::minus<>());
}

EmulatorCounts EmulatorCounts::operator+(const EmulatorCounts& more) const {
  return each_field(*this, more, std::plus<>());
}

std::optional<EmulatorCounts> EmulatorCounter::counts() const {
  const std::optional<EmulatorCounts> now = emulator_counts(table_);
  return before_ && now ? std::optional(*now - *before_) : std::nullopt;
}

std::optional<EmulatorCounts> emulator_counts(const HipTable& table) {
  void* symbol = table.optional_symbol("monojitEmulatorCounters");
  if (table.provider() != Provider::kEmulator || symbol == nullptr) return std::nullopt;
  MonojitEmulatorCounters counters{};
  counters.struct_bytes = sizeof counters;
  if (reinterpret_cast<decltype(&monojitEmulatorCounters)>(symbol)(&counters) != 0) return std::nullopt;
  return EmulatorCounts{.wave_instructions = counters.wave_instructions,
                        .vector = counters.vector,
                        .scalar = counters.scalar,
                        .scalar_memory = counters.scalar_memory,
                        .vector_memory = counters.vector_memory,
                        .lds = counters.lds,
                        .mfma = counters.mfma,
                        .other = counters.other,
                        .mfma_with_partial_exec = counters.mfma_with_partial_exec,
                        .buffer_parts_out_of_range = counters.buffer_parts_out_of_range,
                        .seconds = counters.seconds,
                        .device_bytes = {counters.device_bytes_loaded, counters.device_bytes_stored},
                        .peer_bytes = {counters.peer_bytes_loaded, counters.peer_bytes_stored},
                        .host_bytes = {counters.host_bytes_loaded, counters.host_bytes_stored},
                        .lds_bytes = {counters.lds_bytes_loaded, counters.lds_bytes_stored},
                        .scratch_bytes = {counters.scratch_bytes_loaded, counters.scratch_bytes_stored}};
}

std::string inspect_code_object(const HipTable& emulator, std::span<const std::byte> object, const std::string& name) {
  auto* const inspect = entry_point<decltype(monojitEmulatorInspect)>(emulator, "monojitEmulatorInspect");
  const char* text = inspect(object.data(), object.size());
  if (text == nullptr) throw UserError(name + ": " + emulator.last_fault());
  return text;
}

void set_emulator_option(const HipTable& emulator, const std::string& option, const std::string& value) {
  auto* const set = entry_point<decltype(monojitEmulatorSetOption)>(emulator, "monojitEmulatorSetOption");
  if (set(option.c_str(), value.c_str()) != 0) throw UserError(emulator.last_fault());
}

void set_emulator_profiling(const HipTable& emulator, bool on) {
  entry_point<decltype(monojitEmulatorSetProfiling)>(emulator, "monojitEmulatorSetProfiling")(on ? 1 : 0);
}

std::string take_emulator_profile(const HipTable& emulator) {
  return entry_point<decltype(monojitEmulatorTakeProfile)>(emulator, "monojitEmulatorTakeProfile")();
}

void set_emulator_tracing(const HipTable& emulator, bool on) {
  entry_point<decltype(monojitEmulatorSetTracing)>(emulator, "monojitEmulatorSetTracing")(on ? 1 : 0);
}

std::string take_emulator_trace(const HipTable& emulator) {
  return entry_point<decltype(monojitEmulatorTakeTrace)>(emulator, "monojitEmulatorTakeTrace")();
}

std::string emulator_description(const HipTable& table) {
  void* symbol = table.optional_symbol("monojitEmulatorDescribe");
  if (table.provider() != Provider::kEmulator || symbol == nullptr) return {};
  return reinterpret_cast<decltype(&monojitEmulatorDescribe)>(symbol)();
}

std::string emulator_matrix_model(const HipTable& table) {
  void* symbol = table.optional_symbol("monojitEmulatorMatrixModel");
  if (table.provider() != Provider::kEmulator || symbol == nullptr) return {};
  const char* name = reinterpret_cast<decltype(&monojitEmulatorMatrixModel)>(symbol)();
  return name != nullptr ? name : "";
}

}  // namespace monojit::runtime
