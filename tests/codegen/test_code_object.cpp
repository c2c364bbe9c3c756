#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "codegen/build.h"
#include "codegen/isa/disassembler.h"
#include "codegen/object/metadata_note.h"
#include "tests/codegen/sample_kernels.h"

namespace monojit::codegen {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr int kStages = 2;
constexpr int kUnroll = 2;

std::vector<std::byte> study_object() {
  test::ParsedModule parsed(test::study_assembly(kStages, kUnroll));
  return compile(std::move(parsed.module), ir::kTargetGfx950).code_object;
}

std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span<const char>(text));
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("bytes that are no code object are refused") {
  const std::vector<std::byte> garbage(256, std::byte{0x7f});
  CHECK_THROWS_AS(CodeObject(garbage), CodegenError);
  CHECK_THROWS_AS(CodeObject({}), CodegenError);
  CHECK_THROWS_MATCHES(CodeObject(file_bytes("/proc/self/exe")), CodegenError,
                       MessageMatches(ContainsSubstring("another machine")));
}

TEST_CASE("a code object cut short is refused at any length") {
  const std::vector<std::byte> whole = study_object();
  constexpr std::size_t kStep = 97;
  for (std::size_t size = 0; size < whole.size(); size += kStep) {
    CAPTURE(size);
    CHECK_THROWS_AS(CodeObject(std::span(whole).first(size)).kernels(), CodegenError);
  }
}

TEST_CASE("metadata that is no msgpack map, or lacks the kernels, is refused") {
  CHECK_THROWS_MATCHES(read_metadata_note(std::vector<std::byte>(8, std::byte{0xc1})), CodegenError,
                       MessageMatches(ContainsSubstring("msgpack")));
  const std::vector<std::byte> empty_map = {std::byte{0x80}};
  CHECK_THROWS_MATCHES(read_metadata_note(empty_map), CodegenError,
                       MessageMatches(ContainsSubstring("amdhsa.kernels")));
}

TEST_CASE("a listing holds the instructions, their DSL lines and their branch targets") {
  const CodeObject object(study_object());
  const Listing listing(object, "study");
  REQUIRE_FALSE(listing.instructions().empty());
  CHECK(listing.instructions().back().mnemonic == "s_endpgm");
  const auto mfma = std::ranges::find(listing.instructions(), "v_mfma_f32_16x16x32_bf16", &Instruction::mnemonic);
  REQUIRE(mfma != listing.instructions().end());
  CHECK(mfma->line.file == "study.cpp");
  CHECK(mfma->line.line > 0);
  CHECK(operand_list(*mfma).size() == 4);
  const InstructionCounts counts = listing.counts();
  CHECK(counts[static_cast<std::size_t>(InstructionClass::kMfma)] == kStages * kUnroll);
  CHECK(counts[static_cast<std::size_t>(InstructionClass::kBarrier)] == kStages);
  CHECK(counts[static_cast<std::size_t>(InstructionClass::kVectorStore)] == kStages);
  for (const Instruction& instruction : listing.instructions()) {
    if (!instruction.target) continue;
    CAPTURE(instruction.address);
    CHECK(std::ranges::binary_search(listing.instructions(), *instruction.target, {}, &Instruction::address));
  }
  CHECK_THAT(listing.text(),
             ContainsSubstring("study:") && ContainsSubstring("s_cbranch_") && ContainsSubstring("; study.cpp:"));
}

TEST_CASE("a function that is not there, or bytes that are no instruction, are errors") {
  const CodeObject object(study_object());
  CHECK_THROWS_MATCHES(Listing(object, "nobody"), CodegenError, MessageMatches(ContainsSubstring("nobody")));
  const std::vector<std::byte> ones(8, std::byte{0xff});
  CHECK_THROWS_MATCHES(disassemble({"bad", 0x40, ones}, "gfx950"), CodegenError,
                       MessageMatches(ContainsSubstring("0x40")));
}

TEST_CASE("instructions are told apart by class") {
  using enum InstructionClass;
  CHECK(classify("v_mfma_f32_16x16x32_bf16") == kMfma);
  CHECK(classify("v_fma_f32") == kValu);
  CHECK(classify("v_readlane_b32") == kLaneMove);
  CHECK(classify("s_add_i32") == kSalu);
  CHECK(classify("s_load_dwordx4") == kScalarMemory);
  CHECK(classify("s_cbranch_execz") == kBranch);
  CHECK(classify("s_waitcnt") == kWait);
  CHECK(classify("s_barrier") == kBarrier);
  CHECK(classify("ds_bpermute_b32") == kLds);
  CHECK(classify("buffer_load_dwordx4") == kVectorLoad);
  CHECK(classify("global_store_dword") == kVectorStore);
  CHECK(classify("flat_atomic_add") == kAtomic);
  CHECK(classify("buffer_wbl2") == kCacheControl);
  CHECK(classify("buffer_inv") == kCacheControl);
}

TEST_CASE("the line table gives the line of the row at or before an address") {
  const CodeObject object(study_object());
  const DebugLines lines(object);
  const std::vector<CodeRange> functions = object.functions();
  REQUIRE(functions.size() == 1);
  CHECK(lines.at(functions.front().address).file == "study.cpp");
  CHECK_FALSE(lines.at(0));
  CHECK(to_text(lines.at(0)) == "unknown line");
}

}  // namespace
}  // namespace monojit::codegen
