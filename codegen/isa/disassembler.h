#pragma once

#include <string_view>
#include <vector>

#include "codegen/isa/instruction.h"
#include "codegen/object/code_object.h"

namespace monojit::codegen {

/// The instructions of `code`, without DSL lines. Throws CodegenError, naming the address, at bytes that are no
/// instruction of `arch`.
std::vector<Instruction> disassemble(const CodeRange& code, std::string_view arch);

}  // namespace monojit::codegen
