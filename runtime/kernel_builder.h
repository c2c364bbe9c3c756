#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/family.h"
#include "runtime/kernel_record.h"

namespace monojit::runtime {

struct BuiltKernel {
  KernelRecord record;
  std::vector<std::byte> code_object;
};

/// Makes kernels: emits, generates code, links, checks. May be used from any thread.
class KernelBuilder {
 public:
  virtual ~KernelBuilder() = default;
  /// The LLVM and comgr that build() uses, in the form of kPinnedToolchain (toolchain_id.h). Loads them; throws
  /// UserError when one is missing.
  virtual std::string toolchain() = 0;
  /// Throws UserError when the key can't be built for `arch` ("gfx950"), another std::exception when the build fails.
  virtual BuiltKernel build(const kernels::BuildKey& key, std::string_view arch) = 0;
};

}  // namespace monojit::runtime
