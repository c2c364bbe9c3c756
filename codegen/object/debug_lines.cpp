#include "codegen/object/debug_lines.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFObjectFile.h>

namespace monojit::codegen {

std::string to_text(const SourceLine& line) {
  return line ? fmt::format("{}:{}", line.file, line.line) : std::string("unknown line");
}

DebugLines::DebugLines(const CodeObject& object) {
  const std::unique_ptr<llvm::DWARFContext> dwarf = llvm::DWARFContext::create(object.elf());
  for (const std::unique_ptr<llvm::DWARFUnit>& unit : dwarf->compile_units()) {
    const llvm::DWARFDebugLine::LineTable* table = dwarf->getLineTableForUnit(unit.get());
    if (table == nullptr) continue;
    std::map<std::uint64_t, std::uint32_t> indices;
    const auto file_index = [&](std::uint64_t file) {
      const auto [found, added] = indices.try_emplace(file, static_cast<std::uint32_t>(files_.size()));
      if (added) {
        std::string name;
        table->getFileNameByIndex(file, "", llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath, name);
        files_.push_back(std::move(name));
      }
      return found->second;
    };
    for (const llvm::DWARFDebugLine::Row& row : table->Rows) {
      rows_.push_back({row.Address.Address, file_index(row.File), row.EndSequence ? 0 : row.Line});
    }
  }
  std::ranges::stable_sort(rows_, {}, &Row::address);
}

SourceLine DebugLines::at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(rows_, address, {}, &Row::address);
  if (after == rows_.begin()) return {};
  const Row& row = *std::prev(after);
  return row.line == 0 ? SourceLine{} : SourceLine{files_[row.file], row.line};
}

}  // namespace monojit::codegen
