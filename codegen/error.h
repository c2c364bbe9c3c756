#pragma once

#include <stdexcept>

namespace monojit::codegen {

/// A kernel that can't be compiled, or whose code is refused. The text names the kernel and what is wrong with it.
class CodegenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace monojit::codegen
