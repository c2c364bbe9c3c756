#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

namespace monojit::tests {

/// A way to harm a kernel's LLVM IR as its emitter left it.
struct Damage {
  bool (*concerns)(const llvm::Instruction&);
  /// Harms these instructions, which come in the order of the function. How many it changed or removed.
  std::size_t (*apply)(const std::vector<llvm::Instruction*>&);
};

inline constexpr int kEvery = -1;

/// One mistake that an emitter could make: a damage at a place of its sources.
struct Mutation {
  std::string name;  ///< what is wrong then: "the norm's sums are read before all are there"
  Damage damage;
  std::string file;         ///< whose instructions: the end of a source's path, "norm.cpp"
  std::size_t changes = 1;  ///< what the damage counts when it finds all that this mutation is about
  int line = kEvery;        ///< only the n-th, from 0, of this file's lines that have such instructions
  int first = kEvery;       ///< only `count` of those instructions from the n-th on, in the order of the function
  int count = 1;
};

/// Applies `mutation` to the one kernel of `module`; how many instructions it changed or removed.
std::size_t mutate(llvm::Module& module, const Mutation& mutation);

}  // namespace monojit::tests
