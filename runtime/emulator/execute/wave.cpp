#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

bool Worker::search(u64 first, u64 last) {
  const Allocation* found = list == nullptr ? nullptr : list->find(first, last);
  if (found == nullptr) {  // made after this launch began, perhaps
    list = allocations->snapshot();
    found = list->find(first, last);
  }
  if (found == nullptr) return false;
  last_hit = *found;
  return true;
}

}  // namespace monojit::emulator
