#pragma once

#include <string>

#include "ir/target.h"

namespace llvm {
class Module;
}

namespace monojit::codegen {

/// Throws CodegenError with the number found and its limit when the LDS variables or the stack arrays of `kernel`, the
/// only kernel of `module`, are more than a workgroup or a lane of `target` can have.
///
/// Before code generation, as comgr must not find this out: LLVM reports both as a resource limit, and the clang inside
/// comgr (22.1) formats that message, which takes four arguments, with one. What it prints in place of the other three
/// is whatever their storage held, and at times that is no address: about one build in a hundred ended the process.
void check_memory(const llvm::Module& module, const std::string& kernel, const ir::Target& target);

}  // namespace monojit::codegen
