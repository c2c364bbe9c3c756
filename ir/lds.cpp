#include "ir/lds.h"

#include <fmt/format.h>

#include "ir/builder.h"

namespace monojit::ir::detail {

LdsPlace place_lds(std::string_view name, std::uint32_t bytes, std::uint32_t alignment, Loc loc) {
  Builder& builder = Builder::current(loc);
  Builder::Lds& lds = builder.lds;
  const std::uint32_t offset = (lds.position + alignment - 1) / alignment * alignment;
  lds.position = offset + bytes;
  if (lds.position > builder.target().lds_bytes) {
    builder.fail("LDS",
                 fmt::format("'{}' ends at byte {}, but a workgroup has {} bytes", name, lds.position,
                             builder.target().lds_bytes),
                 loc);
  }
  if (lds.position > lds.bytes) lds.bytes = lds.position;
  llvm::IRBuilder<>& ir = Builder::at(loc);
  if (lds.global == nullptr) {
    // Its size is known when the kernel ends; finish() puts the real one in its place.
    llvm::Type* none = llvm::ArrayType::get(ir.getInt8Ty(), 0);
    lds.global = new llvm::GlobalVariable(*builder.function()->getParent(), none, false,
                                          llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(none), "lds.open",
                                          nullptr, llvm::GlobalValue::NotThreadLocal, Local::kNumber);
  }
  llvm::Constant* pointer = offset == 0
                                ? static_cast<llvm::Constant*>(lds.global)
                                : llvm::ConstantExpr::getGetElementPtr(ir.getInt8Ty(), lds.global, ir.getInt32(offset));
  return {pointer, offset};
}

std::uint32_t lds_position() { return Builder::current({}).lds.position; }

void set_lds_position(std::uint32_t position) { Builder::current({}).lds.position = position; }

}  // namespace monojit::ir::detail
