#pragma once

#include "ir/ops.h"
#include "tests/ir/probe.h"

namespace monojit::ir::test {

/// How to write an operation in the DSL.
struct Recipe {
  Op op;
  void (*emit)(Probe&);
};

std::span<const Recipe> arithmetic_recipes();
std::span<const Recipe> conversion_recipes();
std::span<const Recipe> memory_recipes();
std::span<const Recipe> wave_recipes();

}  // namespace monojit::ir::test
