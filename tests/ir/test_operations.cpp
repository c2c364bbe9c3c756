#include <map>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/ir/recipes.h"

// Every operation of the table, on every chip: the instruction comes out, or the DSL refuses before LLVM sees it.

namespace monojit::ir::test {
namespace {

std::map<Op, const Recipe*> all_recipes() {
  std::map<Op, const Recipe*> recipes;
  for (const auto& group : {arithmetic_recipes(), conversion_recipes(), memory_recipes(), wave_recipes()})
    for (const Recipe& recipe : group) recipes[recipe.op] = &recipe;
  return recipes;
}

/// What is wrong with `recipe` on `target`; "" if nothing.
std::string problem(const Recipe& recipe, const Target& target) {
  const OpInfo& operation = info(recipe.op);
  const std::string expected(operation.mnemonic(target.chip));
  Probe probe(target);
  try {
    recipe.emit(probe);
  } catch (const BuildError& error) {
    if (operation.available(target.chip)) return fmt::format("refused: {}", error.what());
    if (error.operation() != operation.name || error.chip() != target.arch)
      return fmt::format("badly refused: {}", error.what());
    return error.line() != 0 && error.file().starts_with("tests/ir/recipes_")
               ? ""
               : fmt::format("without a line: {}", error.what());
  }
  if (!operation.available(target.chip)) return "was not refused";
  const codegen::Build build = probe.build();
  if (expected.empty() || has_instruction(build.stages.isa, expected)) return "";
  return fmt::format("no '{}' in\n{}", expected, build.stages.isa);
}

void check_chip(const Target& target) {
  for (const auto& [op, recipe] : all_recipes()) {
    const std::string wrong = problem(*recipe, target);
    INFO(info(op).name << " on " << target.arch << ": " << wrong);
    CHECK(wrong.empty());
  }
}

TEST_CASE("Every operation of the table has a recipe here") {
  const auto recipes = all_recipes();
  for (std::size_t i = 0; i < ops().size(); ++i) {
    INFO(ops()[i].name);
    CHECK(recipes.contains(static_cast<Op>(i)));
  }
}

TEST_CASE("On gfx942 every operation becomes its instruction or is refused by name, chip and line") {
  check_chip(kTargetGfx942);
}

TEST_CASE("On gfx950 every operation becomes its instruction") { check_chip(kTargetGfx950); }

TEST_CASE("An operation is available exactly where it has an instruction, or needs none anywhere") {
  for (const OpInfo& operation : ops()) {
    INFO(operation.name);
    const bool emits = !operation.gfx942.empty() || !operation.gfx950.empty();
    CHECK((operation.available(Chip::kGfx942) == !operation.gfx942.empty() || !emits));
    CHECK((operation.available(Chip::kGfx950) == !operation.gfx950.empty() || !emits));
  }
}

}  // namespace
}  // namespace monojit::ir::test
