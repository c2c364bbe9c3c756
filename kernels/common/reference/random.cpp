#include "kernels/common/reference/random.h"

#include <algorithm>
#include <cstring>

namespace monojit::kernels::reference {

void Random::fill(std::span<std::byte> memory) {
  while (!memory.empty()) {
    const std::uint64_t word = bits();
    const std::size_t count = std::min(memory.size(), sizeof(word));
    std::memcpy(memory.data(), &word, count);
    memory = memory.subspan(count);
  }
}

}  // namespace monojit::kernels::reference
