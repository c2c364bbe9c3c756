// Which of the instructions that LLVM's assembler accepts for a chip the emulator executes.
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>

#include "runtime/emulator/decode/instruction_table.h"
#include "runtime/emulator/decode/lowering.h"
#include "tests/emulator/assemble.h"
#include "tests/emulator/encodings.h"

namespace monojit::emulator::test {
namespace {

/// Left out on purpose. `mnemonic` may end in a star.
struct LeftOut {
  std::string_view mnemonic;
  std::string_view reason;
};

constexpr LeftOut kLeftOut[] = {
    {"v_screen_partition_4se_b32", "graphics: divides the screen among shader engines"},
    {"s_endpgm_ordered_ps_done", "graphics: ends a wave of an ordered pixel shader"},
    {"ds_gws_*", "global wave sync"},
    {"v_mfma_ld_scale_b32", "the first half of a scaled MFMA, which is decoded as a whole"},
};

/// Forms of emulated instructions that are refused, by a part of the refusal.
constexpr LeftOut kRefusedForms[] = {
    {"operand src_", "VCCZ, EXECZ and SCC as an operand of a matrix operation"},
    {"addr64 and tfe", "tfe reports page faults to the shader, which are errors here"},
};

bool matches(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

bool is_left_out(std::string_view mnemonic) {
  for (const LeftOut& row : kLeftOut) {
    if (matches(mnemonic, row.mnemonic)) return true;
  }
  return false;
}

struct Sample {
  std::string mnemonic;
  std::string text;
  std::string problem;  ///< why the emulator refuses it; empty if it does not
};

std::string refusal(const InstructionTable& table, const ChipLimits& chip, const Instruction& instruction) {
  constexpr RegisterBudget kAllRegisters{256, 256};
  Program program;
  Lowering lowering(table, chip, MatrixModel::kCdna3, kAllRegisters, ProgramVariant::kPlain, program);
  lowering.lower(instruction, true, MachineFacts{});
  return program.problems.empty() ? "" : program.problems.front();
}

/// Lines that the assembler refuses, counted from 0.
std::set<std::size_t> refused_lines(const std::string& text, std::string_view arch) {
  std::set<std::size_t> lines;
  try {
    assemble_text(text, arch);
  } catch (const std::runtime_error& failure) {
    static const std::regex kPlace("kernel\\.s:([0-9]+):[0-9]+: error");
    const std::string log = failure.what();
    for (std::sregex_iterator match(log.begin(), log.end(), kPlace), end; match != end; ++match)
      lines.insert(std::stoul((*match)[1]) - 1);
  }
  return lines;
}

/// Samples of every instruction of the chip: what its disassembler reads and its assembler accepts.
std::vector<Sample> samples_of(const ChipLimits& chip) {
  const InstructionTable table(chip, HostIsa::kX86V3);
  std::vector<Sample> samples;
  std::string text;
  for_each_encoding(chip, [&](const Instruction& instruction, std::string_view) {
    samples.push_back({std::string(instruction.mnemonic), instruction.text, refusal(table, chip, instruction)});
    text += instruction.text + "\n";
  });
  const auto refused = refused_lines(text, chip.arch);
  std::vector<Sample> accepted;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!refused.contains(i)) accepted.push_back(std::move(samples[i]));
  }
  return accepted;
}

struct Coverage {
  std::set<std::string> known;
  std::set<std::string> done;
  std::map<std::string, std::string> refused_forms;  ///< an example of each refusal of an emulated instruction
};

Coverage coverage_of(const ChipLimits& chip) {
  Coverage coverage;
  const std::vector<Sample> samples = samples_of(chip);
  for (const Sample& sample : samples) {
    coverage.known.insert(sample.mnemonic);
    if (sample.problem.empty()) coverage.done.insert(sample.mnemonic);
  }
  for (const Sample& sample : samples) {
    if (!sample.problem.empty() && coverage.done.contains(sample.mnemonic))
      coverage.refused_forms.emplace(sample.problem, sample.text);
  }
  return coverage;
}

const Coverage& coverage(Chip chip) {
  static const Coverage kOfGfx950 = coverage_of(kMi355x);
  static const Coverage kOfGfx942 = coverage_of(kMi300x);
  return chip == Chip::kGfx950 ? kOfGfx950 : kOfGfx942;
}

TEST_CASE("every instruction that LLVM knows is emulated, or left out by name") {
  for (const ChipLimits* chip : {&kMi355x, &kMi300x}) {
    const Coverage& all = coverage(chip->chip);
    // A broken enumeration must not pass for full coverage.
    constexpr std::size_t kAtLeastKnown = 1100;
    CHECK(all.known.size() > kAtLeastKnown);
    for (const std::string& mnemonic : all.known) {
      INFO(chip->arch << " " << mnemonic);
      CHECK(all.done.contains(mnemonic) != is_left_out(mnemonic));
    }
    fmt::print("{}: {} of {} instructions\n", chip->arch, all.done.size(), all.known.size());
  }
}

/// The page that tells users what is emulated.
std::string page() {
  std::ifstream file(MONOJIT_TEST_DOCS "/emulator.md");
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("docs/emulator.md tells how many instructions there are and which are left out") {
  const auto known = [](Chip chip) {
    const std::string digits = fmt::format("{}", coverage(chip).known.size());
    return digits.substr(0, digits.size() - 3) + "," + digits.substr(digits.size() - 3);
  };
  const std::string text = page();
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring(fmt::format("{} instructions for gfx950 and {} for gfx942",
                                                                  known(Chip::kGfx950), known(Chip::kGfx942))));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("LLVM " LLVM_VERSION_STRING));
  std::size_t listed = 0;
  for (const LeftOut& row : kLeftOut) {
    CHECK_THAT(text, Catch::Matchers::ContainsSubstring(fmt::format("\n| `{}` | {} |\n", row.mnemonic, row.reason)));
  }
  const std::size_t begin = text.find("| left out | why |"), end = text.find("\n\n", begin);
  REQUIRE(begin != std::string::npos);
  for (std::size_t at = begin; (at = text.find("\n| `", at)) < end; ++at) ++listed;
  CHECK(listed == std::size(kLeftOut));
}

TEST_CASE("docs/emulator.md tells what a compute unit of each chip holds") {
  const std::string text = page();
  const auto row = [&](const std::string& line) { CHECK_THAT(text, Catch::Matchers::ContainsSubstring("\n" + line)); };
  const ChipLimits &a = kMi355x, &b = kMi300x;
  row(fmt::format("| XCDs x CUs | {} x {} | {} x {} |", a.xcds, a.cus_per_xcd(), b.xcds, b.cus_per_xcd()));
  row(fmt::format("| SIMDs x wave slots, a CU | {} x {} | {} x {} |", a.simds, a.waves_per_simd, b.simds,
                  b.waves_per_simd));
  row(fmt::format("| VGPRs and AGPRs together, a SIMD and lane | {} | {} | {} a wave |", a.registers_per_lane,
                  b.registers_per_lane, a.register_granule));
  row(fmt::format("| SGPRs, a SIMD | {} | {} | {} a wave", a.sgprs_per_simd, b.sgprs_per_simd, a.sgpr_granule));
  row(fmt::format("| LDS, a CU | {} KiB | {} KiB | {} / {} bytes |", a.lds_bytes / 1024, b.lds_bytes / 1024,
                  a.lds_granule, b.lds_granule));
}

TEST_CASE("what is left out by name exists") {
  for (const LeftOut& row : kLeftOut) {
    bool exists = false;
    for (const Chip chip : {Chip::kGfx950, Chip::kGfx942}) {
      for (const std::string& mnemonic : coverage(chip).known) exists |= matches(mnemonic, row.mnemonic);
    }
    INFO(row.mnemonic);
    CHECK(exists);
  }
}

TEST_CASE("every row of the instruction table is an instruction of a chip") {
  for (const ChipLimits* chip : {&kMi355x, &kMi300x}) {
    const InstructionTable table(*chip, HostIsa::kX86V3);
    for (const auto& [name, entry] : table.entries()) {
      if (name.starts_with('.')) continue;  // a step
      const std::string mnemonic(name.substr(0, name.find('+')));
      INFO(chip->arch << " " << name);
      CHECK((coverage(Chip::kGfx950).known.contains(mnemonic) || coverage(Chip::kGfx942).known.contains(mnemonic)));
    }
  }
}

TEST_CASE("every form of an emulated instruction is emulated") {
  for (const ChipLimits* chip : {&kMi355x, &kMi300x}) {
    for (const auto& [problem, text] : coverage(chip->chip).refused_forms) {
      bool expected = false;
      for (const LeftOut& row : kRefusedForms) expected |= problem.find(row.mnemonic) != std::string::npos;
      INFO(chip->arch << " " << text << ": " << problem);
      CHECK(expected);
    }
  }
}

}  // namespace
}  // namespace monojit::emulator::test
