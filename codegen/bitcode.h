#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace monojit::codegen {

/// The same in every process that has this LLVM, whatever its environment is.
std::vector<std::byte> bitcode_of(const llvm::Module& module);
/// LLVM assembly.
std::string assembly_of(const llvm::Module& module);

}  // namespace monojit::codegen
