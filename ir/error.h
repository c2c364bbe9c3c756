#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace monojit::ir {

/// A kernel that can't be built as written: an operation that the chip lacks, more LDS than it has, a value used
/// outside of its scope. The text names the operation, the chip where it matters, and the source line of the emitter.
class BuildError : public std::runtime_error {
 public:
  BuildError(std::string_view operation, std::string_view chip, std::string_view problem,
             const std::source_location& where);
  BuildError(std::string_view operation, std::string_view chip, std::string_view problem, std::string_view file,
             unsigned line);

  const std::string& operation() const { return operation_; }
  const std::string& chip() const { return chip_; }  ///< empty where any chip would refuse
  const std::string& file() const { return file_; }
  unsigned line() const { return line_; }

 private:
  std::string operation_;
  std::string chip_;
  std::string file_;
  unsigned line_;
};

}  // namespace monojit::ir
