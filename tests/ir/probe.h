#pragma once

#include <string>
#include <vector>

#include "codegen/build.h"
#include "ir/dsl.h"

/// A kernel around one operation: operands come from memory, results go there, so that nothing folds or vanishes.
namespace monojit::ir::test {

class Probe {
 public:
  explicit Probe(const Target& target);

  template <class T>
  T operand() {
    return T(Raw{load_operand(detail::kShape<T>)});
  }
  Int32 i32() { return operand<Int32>(); }
  Float32 f32() { return operand<Float32>(); }
  Uniform<Int32> scalar() { return kernel_.argument<Int32>("scalar"); }

  template <class T>
  void result(const T& value) {
    store_result(value.get(), detail::kShape<T>);
  }

  Uniform<Ptr<Int32, Global>> memory() { return kernel_.argument<Ptr<Int32, Global>>("memory"); }
  BufferResource buffer() { return BufferResource(memory()); }
  LdsArray<Int32>& lds() { return lds_; }

  Kernel& kernel() { return kernel_; }
  /// Compiles it for the chip and gives its instructions.
  codegen::Build build();

 private:
  llvm::Value* load_operand(Shape shape);
  void store_result(llvm::Value* value, Shape shape);

  Kernel kernel_;
  LdsArray<Int32> lds_;
  int used_ = 0;
};

/// The lines of a build's ISA in which all of `words` (blank-separated; the first one is a mnemonic) stand.
std::vector<std::string> lines_with(const std::string& isa, const std::string& words);
bool has_instruction(const std::string& isa, const std::string& words);

}  // namespace monojit::ir::test
