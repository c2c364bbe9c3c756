#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/common/family.h"
#include "runtime/kernel_record.h"

namespace monojit::runtime {

/// A kernel as built or read from the cache: host data alone, good for every device of its arch.
struct CompiledKernel {
  kernels::BuildKey key;
  std::string arch;  ///< "gfx950"
  KernelRecord record;
  std::shared_ptr<const std::vector<std::byte>> code_object;  ///< never null
};

}  // namespace monojit::runtime
