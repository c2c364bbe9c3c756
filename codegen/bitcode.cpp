#include "codegen/bitcode.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

namespace monojit::codegen {

std::vector<std::byte> bitcode_of(const llvm::Module& module) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  {
    // Without a table of symbols, which linkers alone want and which names what LLVM_OVERRIDE_PRODUCER says.
    llvm::BitcodeWriter writer(stream);
    writer.writeModule(module);
    writer.writeStrtab();
  }
  const auto* const first = reinterpret_cast<const std::byte*>(buffer.data());
  return {first, first + buffer.size()};
}

std::string assembly_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace monojit::codegen
