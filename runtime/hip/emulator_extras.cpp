#include "runtime/hip/emulator_extras.h"

#include <stdexcept>

#include "runtime/emulator/emulator.h"

namespace monojit::runtime {

std::optional<EmulatorCounts> emulator_counts(const HipTable& table) {
  void* symbol = table.optional_symbol("monojitEmulatorCounters");
  if (table.provider() != Provider::kEmulator || symbol == nullptr) return std::nullopt;
  MonojitEmulatorCounters counters{};
  counters.struct_bytes = sizeof counters;
  if (reinterpret_cast<decltype(&monojitEmulatorCounters)>(symbol)(&counters) != 0) return std::nullopt;
  return EmulatorCounts{counters.wave_instructions, counters.mfma, counters.seconds};
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

void set_emulator_option(const HipTable& table, const std::string& name, const std::string& value) {
  void* set = table.optional_symbol("monojitEmulatorSetOption");
  void* reason = table.optional_symbol("monojitEmulatorLastFault");
  if (table.provider() != Provider::kEmulator || set == nullptr || reason == nullptr) {
    throw std::runtime_error("option " + name + ": this HIP is no emulator");
  }
  if (reinterpret_cast<decltype(&monojitEmulatorSetOption)>(set)(name.c_str(), value.c_str()) != 0) {
    throw std::runtime_error(reinterpret_cast<decltype(&monojitEmulatorLastFault)>(reason)());
  }
}

}  // namespace monojit::runtime
