#include "tools/bench/noop_hip.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace monojit::tools {
namespace {

/// A function of any signature that succeeds.
template <class... Parameters>
void do_nothing(hipError_t (*&slot)(Parameters...)) {
  slot = [](Parameters...) { return hipSuccess; };
}

hipError_t eight_devices(int* count) { return *count = 8, hipSuccess; }

hipError_t all_reach_each_other(int* can, int, int) { return *can = 1, hipSuccess; }

/// Pinned words that nothing is ever copied to.
hipError_t some_words(void** address, std::size_t, unsigned) {
  static std::uint64_t words[8] = {};
  return *address = words, hipSuccess;
}

hipError_t plenty_of_room(int* blocks, hipFunction_t, int, std::size_t) { return *blocks = 1, hipSuccess; }

hipError_t an_mi355x(hipDeviceProp_tR0600* properties, int) {
  constexpr std::string_view kArch = "gfx950";
  constexpr int kComputeUnits = 256;
  *properties = {};
  std::ranges::copy(kArch, properties->gcnArchName);
  properties->multiProcessorCount = kComputeUnits;
  return hipSuccess;
}

}  // namespace

std::shared_ptr<const runtime::HipTable> noop_hip() {
  const std::shared_ptr<runtime::HipTable> table = runtime::HipTable::empty("no-op HIP", runtime::Provider::kHip);
#define MONOJIT_HIP_FUNCTION(name, parameters) do_nothing(table->name);
#include "runtime/hip/functions.inc"
#undef MONOJIT_HIP_FUNCTION
  table->hipGetDeviceCount = eight_devices;
  table->hipDeviceCanAccessPeer = all_reach_each_other;
  table->hipHostMalloc = some_words;
  table->hipGetDevicePropertiesR0600 = an_mi355x;
  table->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor = plenty_of_room;
  return table;
}

}  // namespace monojit::tools
