#include "codegen/object/comment.h"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/Binary.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/error.h"

namespace monojit::codegen {
namespace {

void check(llvm::Error error) {
  if (error) throw CodegenError(fmt::format("a code object's .comment: {}", llvm::toString(std::move(error))));
}

}  // namespace

std::vector<std::byte> without_comment(std::span<const std::byte> bytes) {
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  llvm::Expected<std::unique_ptr<llvm::object::Binary>> binary =
      llvm::object::createBinary(llvm::MemoryBufferRef(text, "code object"));
  if (!binary) check(binary.takeError());
  llvm::objcopy::ConfigManager config;
  check(config.Common.ToRemove.addMatcher(llvm::objcopy::NameOrPattern::create(
      ".comment", llvm::objcopy::MatchStyle::Literal, [](llvm::Error error) { return error; })));
  llvm::SmallVector<char, 0> stripped;
  llvm::raw_svector_ostream stream(stripped);
  check(llvm::objcopy::executeObjcopyOnBinary(config, **binary, stream));
  const auto* const first = reinterpret_cast<const std::byte*>(stripped.data());
  return {first, first + stripped.size()};
}

}  // namespace monojit::codegen
