#include "runtime/peak_memory.h"

#include <fstream>
#include <string>
#include <string_view>

namespace monojit::runtime {
namespace {

std::uint64_t status_bytes(std::string_view entry) {
  constexpr std::uint64_t kKibi = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == entry && status >> kibibytes) return kibibytes * kKibi;
  }
  return 0;
}

}  // namespace

std::uint64_t peak_memory() { return status_bytes("VmHWM:"); }

std::uint64_t resident_memory() { return status_bytes("VmRSS:"); }

}  // namespace monojit::runtime
