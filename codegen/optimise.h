#pragma once

#include <string_view>

namespace llvm {
class Module;
}

namespace monojit::codegen {

/// Runs LLVM passes over `module`, compiled for `arch` ("gfx950"). `pipeline` is in the language of `opt -passes=`; ""
/// does nothing. Throws CodegenError when it does not parse.
void optimise(llvm::Module& module, std::string_view arch, std::string_view pipeline);

}  // namespace monojit::codegen
