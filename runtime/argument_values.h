#pragma once

#include <string_view>
#include <vector>

#include "runtime/arguments.h"

namespace monojit::runtime {

/// A kernel's arguments given by name: no order to get wrong.
class ArgumentValues {
 public:
  explicit ArgumentValues(const kernels::Family& family);

  bool takes(std::string_view name) const;
  /// Throws UserError when the kernel has no argument of this name.
  ArgumentValues& set(std::string_view name, ArgumentValue value);
  /// In the order of the argument list. Throws UserError naming every argument that was not given.
  const std::vector<ArgumentValue>& values() const;
  const kernels::Family& family() const { return *family_; }

 private:
  const kernels::Family* family_;
  std::vector<ArgumentValue> values_;
  std::vector<bool> given_;
};

}  // namespace monojit::runtime
