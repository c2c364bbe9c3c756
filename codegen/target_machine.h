#pragma once

#include <memory>
#include <string_view>

namespace llvm {
class Target;
class TargetMachine;
}  // namespace llvm

namespace monojit::codegen {

inline constexpr const char* kTriple = "amdgcn-amd-amdhsa";

/// LLVM's AMDGPU target, registered in this process. Throws CodegenError when this LLVM was built without it.
const llvm::Target& amdgpu_target();

/// The machine that passes ask about costs and features. `arch` is a processor name: "gfx950".
std::unique_ptr<llvm::TargetMachine> make_target_machine(std::string_view arch);

}  // namespace monojit::codegen
