#include "runtime/hip/emulator_extras.h"

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

}  // namespace monojit::runtime
