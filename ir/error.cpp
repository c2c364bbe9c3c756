#include "ir/error.h"

#include <fmt/format.h>

namespace monojit::ir {

namespace {
std::string text(std::string_view operation, std::string_view chip, std::string_view problem, std::string_view file,
                 unsigned line) {
  const std::string on_chip = chip.empty() ? std::string() : fmt::format(" on {}", chip);
  return fmt::format("{}:{}: {}{}: {}", file, line, operation, on_chip, problem);
}
}  // namespace

BuildError::BuildError(std::string_view operation, std::string_view chip, std::string_view problem,
                       const std::source_location& where)
    : BuildError(operation, chip, problem, where.file_name(), where.line()) {}

BuildError::BuildError(std::string_view operation, std::string_view chip, std::string_view problem,
                       std::string_view file, unsigned line)
    : std::runtime_error(text(operation, chip, problem, file, line)),
      operation_(operation),
      chip_(chip),
      file_(file),
      line_(line) {}

}  // namespace monojit::ir
