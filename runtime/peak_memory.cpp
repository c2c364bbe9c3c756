#include "runtime/peak_memory.h"

#include <fstream>
#include <string>

namespace monojit::runtime {

std::uint64_t peak_memory() {
  constexpr std::uint64_t kKibi = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * kKibi;
  }
  return 0;
}

}  // namespace monojit::runtime
