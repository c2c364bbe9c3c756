#pragma once

#include <cstddef>
#include <functional>
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

/// Is told what a build is at next, in words ("generating code"). Must not throw.
using StageCallback = std::function<void(std::string_view stage)>;

/// Makes kernels: emits, generates code, links, checks. May be used from any thread.
class KernelBuilder {
 public:
  virtual ~KernelBuilder() = default;
  /// The LLVM and comgr that build() uses, in the form of kPinnedToolchain (toolchain_id.h). Loads them; throws
  /// UserError when one is missing.
  virtual std::string toolchain() = 0;
  /// Throws UserError when the key can't be built for `arch` ("gfx950"), another std::exception when the build fails.
  virtual BuiltKernel build(const kernels::BuildKey& key, std::string_view arch,
                            const StageCallback& on_stage = {}) = 0;
  /// How many builds at the same time are worth while.
  virtual int jobs() const { return 1; }
};

}  // namespace monojit::runtime
