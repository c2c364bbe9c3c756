#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "codegen/isa/exec_scan.h"
#include "codegen/isa/listing.h"

namespace monojit::codegen {
namespace {

/// Instructions of 4 bytes from assembly text; "name:" is a label, a branch's only operand names one.
std::vector<Instruction> assemble(const std::string& text) {
  std::vector<Instruction> instructions;
  std::map<std::string, std::uint64_t> labels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos) continue;
    line = line.substr(start);
    if (line.ends_with(':')) {
      labels[line.substr(0, line.size() - 1)] = instructions.size() * 4;
      continue;
    }
    Instruction instruction;
    instruction.address = instructions.size() * 4;
    instruction.size = 4;
    const std::size_t blank = line.find(' ');
    instruction.mnemonic = line.substr(0, blank);
    if (blank != std::string::npos) instruction.operands = line.substr(blank + 1);
    instructions.push_back(instruction);
  }
  for (Instruction& instruction : instructions) {
    if (instruction.mnemonic.find("branch") != std::string::npos) instruction.target = labels.at(instruction.operands);
  }
  return instructions;
}

constexpr const char* kMfma = "v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]\n";

/// How many MFMAs of `text` may run with lanes switched off.
std::size_t masked(const std::string& text) { return find_masked_mfmas(assemble(text)).size(); }

TEST_CASE("an MFMA inside a divergent branch is found, one behind its end is not") {
  const std::string head = "s_and_saveexec_b64 s[0:1], vcc\ns_cbranch_execz skip\n";
  const std::string end = "skip:\ns_or_b64 exec, exec, s[0:1]\n";
  CHECK(masked(head + kMfma + end + "s_endpgm\n") == 1);
  CHECK(masked(head + "v_mov_b32_e32 v0, 0\n" + end + kMfma + "s_endpgm\n") == 0);
  // Between the join and the end of the region the mask still holds.
  CHECK(masked(head + "skip:\n" + std::string(kMfma) + "s_or_b64 exec, exec, s[0:1]\ns_endpgm\n") == 1);
}

TEST_CASE("an MFMA behind a scalar branch runs with all lanes") {
  CHECK(masked(std::string("s_cmp_lg_u32 s0, 0\ns_cbranch_scc0 skip\n") + kMfma + "skip:\ns_endpgm\n") == 0);
  CHECK(masked(std::string("s_and_b64 vcc, exec, s[4:5]\ns_cbranch_vccnz skip\n") + kMfma + "skip:\ns_endpgm\n") == 0);
}

TEST_CASE("an MFMA in either part of a divergent if-else is found, one behind it is not") {
  const std::string head =
      "s_and_saveexec_b64 s[0:1], vcc\n"
      "s_xor_b64 s[0:1], exec, s[0:1]\n"
      "s_cbranch_execz middle\n";
  const std::string middle =
      "middle:\n"
      "s_or_saveexec_b64 s[0:1], s[0:1]\n"
      "s_xor_b64 exec, exec, s[0:1]\n"
      "s_cbranch_execz end\n";
  const std::string short_middle = "middle:\ns_andn2_saveexec_b64 s[0:1], s[0:1]\ns_cbranch_execz end\n";
  const std::string end = "end:\ns_or_b64 exec, exec, s[0:1]\n";
  const std::string other = "v_mov_b32_e32 v9, 0\n";
  for (const std::string& between : {middle, short_middle}) {
    CHECK(masked(head + kMfma + between + other + end + "s_endpgm\n") == 1);
    CHECK(masked(head + other + between + kMfma + end + "s_endpgm\n") == 1);
    CHECK(masked(head + other + between + other + end + kMfma + "s_endpgm\n") == 0);
  }
}

TEST_CASE("a loop that lanes leave one by one masks its MFMAs, and none behind it") {
  const std::string head = "s_mov_b64 s[4:5], 0\nloop:\n";
  const std::string tail =
      "v_cmp_ge_i32_e32 vcc, v0, v1\n"
      "s_or_b64 s[4:5], vcc, s[4:5]\n"
      "s_andn2_b64 exec, exec, s[4:5]\n"
      "s_cbranch_execnz loop\n"
      "s_or_b64 exec, exec, s[4:5]\n";
  CHECK(masked(head + kMfma + tail + "s_endpgm\n") == 1);
  CHECK(masked(head + tail + kMfma + "s_endpgm\n") == 0);
}

TEST_CASE("a scalar loop does not mask its MFMAs, even with a divergent branch in its body") {
  const std::string body =
      "loop:\n"
      "s_and_saveexec_b64 s[2:3], vcc\n"
      "s_cbranch_execz skip\n"
      "v_mov_b32_e32 v9, 0\n"
      "skip:\n"
      "s_or_b64 exec, exec, s[2:3]\n";
  const std::string tail = "s_add_i32 s8, s8, 1\ns_cmp_lt_i32 s8, s9\ns_cbranch_scc1 loop\ns_endpgm\n";
  CHECK(masked(body + kMfma + tail) == 0);
}

TEST_CASE("nested regions lead back to the depth that each was entered at") {
  const std::string open =
      "s_and_saveexec_b64 s[0:1], vcc\n"
      "s_cbranch_execz outer\n"
      "s_and_saveexec_b64 s[2:3], s[6:7]\n"
      "s_cbranch_execz inner\n"
      "v_mov_b32_e32 v9, 0\n"
      "inner:\n"
      "s_or_b64 exec, exec, s[2:3]\n";
  const std::string close = "outer:\ns_or_b64 exec, exec, s[0:1]\n";
  CHECK(masked(open + kMfma + close + "s_endpgm\n") == 1);
  CHECK(masked(open + close + kMfma + "s_endpgm\n") == 0);
}

TEST_CASE("a mask kept in a lane of a vector register is followed") {
  const std::string text = std::string("s_and_saveexec_b64 s[0:1], vcc\n") +
                           "v_writelane_b32 v40, s0, 3\n"
                           "v_writelane_b32 v40, s1, 4\n"
                           "s_mov_b64 s[0:1], 7\n"
                           "v_readlane_b32 s12, v40, 3\n"
                           "v_readlane_b32 s13, v40, 4\n"
                           "s_or_b64 exec, exec, s[12:13]\n" +
                           kMfma + "s_endpgm\n";
  CHECK(masked(text) == 0);
}

TEST_CASE("where the scan loses track of the mask, it says so") {
  const std::string overwritten = std::string("s_and_saveexec_b64 s[0:1], vcc\n") +
                                  "s_load_dwordx2 s[0:1], s[4:5], 0x0\n"
                                  "s_or_b64 exec, exec, s[0:1]\n" +
                                  kMfma + "s_endpgm\n";
  const std::vector<MaskedMfma> found = find_masked_mfmas(assemble(overwritten));
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found.front().certain);
}

TEST_CASE("all lanes switched on by hand end a region") {
  CHECK(masked(std::string("s_and_saveexec_b64 s[0:1], vcc\ns_mov_b64 exec, -1\n") + kMfma + "s_endpgm\n") == 0);
  CHECK(masked(std::string("s_or_saveexec_b64 s[2:3], -1\n") + kMfma + "s_mov_b64 exec, s[2:3]\n" + kMfma +
               "s_endpgm\n") == 0);
}

TEST_CASE("scaled matrix instructions are told from plain ones") {
  CHECK(is_scaled_mfma(assemble("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3]\n").front()));
  CHECK(is_scaled_mfma(assemble("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3]\n").front()));
  CHECK_FALSE(is_scaled_mfma(assemble(kMfma).front()));
}

}  // namespace
}  // namespace monojit::codegen
