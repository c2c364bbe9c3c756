// Which registers an instruction reads and writes, implied ones among them: what LLVM's instruction descriptions say.
#pragma once

#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

struct RegisterUse {
  enum class File : u8 { kVgpr, kAgpr, kScalar };

  File file = File::kScalar;
  u16 first = 0;  ///< register number, or word in the scalar file
  u16 count = 1;
  bool written = false;
  bool tied = false;  ///< read only because it is the destination as well
};

/// What the checks need to know of an instruction besides its text.
struct MachineFacts {
  std::vector<RegisterUse> registers;
};

}  // namespace monojit::emulator
