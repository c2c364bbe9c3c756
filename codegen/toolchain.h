#pragma once

#include <string>

namespace monojit::codegen {

/// The LLVM and comgr that this process compiles with, in the form of kPinnedToolchain (generated/toolchain_id.h):
/// "llvm-22.1.8/comgr-3.0". Opens comgr; throws CodegenError when it is missing.
std::string toolchain_id();

}  // namespace monojit::codegen
