#include "codegen/toolchain.h"

#include <fmt/format.h>
#include <llvm-c/Core.h>

#include "codegen/comgr/library.h"

namespace monojit::codegen {

std::string toolchain_id() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  LLVMGetVersion(&major, &minor, &patch);  // of the library at run time, not of the headers
  return fmt::format("llvm-{}.{}.{}/comgr-{}", major, minor, patch, comgr::Library::instance().version());
}

}  // namespace monojit::codegen
