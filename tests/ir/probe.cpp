#include "tests/ir/probe.h"

#include <algorithm>
#include <sstream>

#include <llvm/IR/Module.h>

namespace monojit::ir::test {

namespace {

constexpr ArgumentSpec kArguments[] = {
    {.name = "operands", .alignment = 16, .written = false},
    {.name = "results", .alignment = 16},
    {.name = "memory", .alignment = 16, .no_alias = false},
    {.name = "scalar", .type = ArgumentType::kInt32},
};
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kLdsWords = 1024;
constexpr int kSlot = 256 * 128;  // bytes between operands

// VOP encodings that LLVM's assembler writes behind a mnemonic.
constexpr std::string_view kSuffixes[] = {"_e32", "_e64", "_dpp", "_sdwa"};

bool same_mnemonic(const std::string& word, const std::string& mnemonic) {
  if (word == mnemonic) return true;
  return std::ranges::any_of(kSuffixes,
                             [&](std::string_view suffix) { return word == mnemonic + std::string(suffix); });
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

Probe::Probe(const Target& target)
    : kernel_({.name = "probe", .target = target, .workgroup_size = kThreads, .arguments = kArguments}),
      lds_(LdsLayout().array<Int32>("words", kLdsWords)) {}

llvm::Value* Probe::load_operand(Shape shape) {
  const auto base = pointer_cast<UInt8>(kernel_.argument<Ptr<Int32, Global>>("operands"));
  const Int32 bytes = static_cast<int>(std::max(bytes_of(shape), 16U));
  const auto place = base + (thread_id() * bytes + kSlot * used_++);
  if (shape.kind == Kind::kBool) return (load(pointer_cast<Int32>(place)) == 7).get();
  return detail::load(place.get(), shape, {}, Loc::current());
}

void Probe::store_result(llvm::Value* value, Shape shape) {
  const auto base = pointer_cast<UInt8>(kernel_.argument<Ptr<Int32, Global>>("results"));
  const Int32 bytes = static_cast<int>(std::max(bytes_of(shape), 16U));
  const auto place = base + (thread_id() * bytes + kSlot * used_++);
  if (shape.kind == Kind::kBool) {
    store(pointer_cast<Int32>(place), convert<Int32>(Bool(Raw{value})));
  } else {
    detail::store(place.get(), value, shape, {}, Loc::current());
  }
}

codegen::Build Probe::build() {
  codegen::CodegenOptions options;
  options.stages.isa = true;
  options.stages.optimised_ir = true;
  return codegen::compile(kernel_.finish(), kernel_.target(), options);
}

std::vector<std::string> lines_with(const std::string& isa, const std::string& words) {
  const std::vector<std::string> wanted = words_of(words);
  std::vector<std::string> found;
  std::istringstream stream(isa);
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> there = words_of(line);
    const bool all = std::ranges::all_of(wanted, [&](const std::string& word) {
      return std::ranges::any_of(there, [&](const std::string& candidate) { return same_mnemonic(candidate, word); });
    });
    if (all) found.push_back(line);
  }
  return found;
}

bool has_instruction(const std::string& isa, const std::string& words) { return !lines_with(isa, words).empty(); }

}  // namespace monojit::ir::test
