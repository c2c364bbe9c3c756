#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

bool Worker::search(u64 first, u64 last) {
  const auto look = [&]() -> const Allocation* {
    const Allocation* const found = list == nullptr ? nullptr : list->find(first, last);
    return found != nullptr && list->accessible(*found, device) ? found : nullptr;
  };
  const Allocation* found = look();
  if (found == nullptr) {  // made or opened after this round began, perhaps
    list = allocations->snapshot();
    found = look();
  }
  if (found == nullptr) return false;
  last_hit = *found;
  return true;
}

}  // namespace monojit::emulator
