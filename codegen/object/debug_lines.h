#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/object/code_object.h"

namespace monojit::codegen {

/// A place in the source of an emitter. `file` is empty where the code object says nothing.
struct SourceLine {
  std::string_view file;
  std::uint32_t line = 0;

  bool operator==(const SourceLine&) const = default;
  explicit operator bool() const { return !file.empty() && line != 0; }
};

/// "kernels/minimax_m3/k1/gemv.cpp:42", or "unknown line".
std::string to_text(const SourceLine& line);

/// The line table of a linked code object: which DSL line an instruction came from.
class DebugLines {
 public:
  explicit DebugLines(const CodeObject& object);
  /// The line of the instruction at `address`; its `file` is valid as long as this table.
  SourceLine at(std::uint64_t address) const;

 private:
  struct Row {
    std::uint64_t address;
    std::uint32_t file;
    std::uint32_t line;  ///< 0 ends a sequence
  };
  std::vector<std::string> files_;
  std::vector<Row> rows_;  ///< by address
};

}  // namespace monojit::codegen
