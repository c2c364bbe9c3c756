#include <algorithm>
#include <sstream>

#include <catch2/catch_test_macros.hpp>

#include "tests/ir/probe.h"

namespace monojit::ir {
namespace {

using test::has_instruction;
using test::lines_with;
using test::Probe;

/// The lane exchanges of an ISA listing in program order: "permlane32", "bpermute", or the control of a DPP
/// instruction.
std::vector<std::string> exchanges(const std::string& isa) {
  std::vector<std::string> found;
  std::istringstream stream(isa);
  for (std::string line; std::getline(stream, line);) {
    for (const char* name : {"permlane32", "permlane16", "bpermute"})
      if (line.find(name) != std::string::npos) found.emplace_back(name);
    for (const char* control : {"row_ror:", "row_shr:", "row_shl:", "quad_perm:"}) {
      const std::size_t start = line.find(control);
      if (start != std::string::npos) found.push_back(line.substr(start, line.find_first_of(" ]", start) - start));
    }
  }
  return found;
}

/// `first`, then what every reduction does within a row of 16 lanes.
std::vector<std::string> then_within_row(std::vector<std::string> first) {
  for (const char* control : {"row_ror:8", "row_ror:4", "quad_perm:[2,3,0,1", "quad_perm:[1,0,3,2"}) {
    first.emplace_back(control);
  }
  return first;
}

TEST_CASE("A half-wave sum goes over lanes xor 16, 8, 4, 2, 1 in this order") {
  for (const Target& target : targets()) {
    Probe probe(target);
    probe.result(half_wave_sum(probe.f32()));
    const std::string first = target.chip == Chip::kGfx950 ? "permlane16" : "bpermute";
    CHECK(exchanges(probe.build().stages.isa) == then_within_row({first}));
  }
}

TEST_CASE("A wave sum starts with xor 32") {
  for (const Target& target : targets()) {
    Probe probe(target);
    probe.result(wave_sum(probe.f32()));
    const bool swaps = target.chip == Chip::kGfx950;
    const std::vector<std::string> first =
        swaps ? std::vector<std::string>{"permlane32", "permlane16"} : std::vector<std::string>{"bpermute", "bpermute"};
    CHECK(exchanges(probe.build().stages.isa) == then_within_row(first));
  }
}

TEST_CASE("A wave maximum propagates NaN where the chip has the instruction, and any operation can reduce") {
  Probe probe(kTargetGfx950);
  probe.result(wave_max(probe.f32()));
  CHECK(lines_with(probe.build().stages.isa, "v_maximum3_f32").size() >= 6);
  Probe bits(kTargetGfx950);
  bits.result(half_wave_reduce(bits.i32(), [](const Int32& a, const Int32& b) { return a | b; }));
  CHECK(has_instruction(bits.build().stages.isa, "v_or_b32"));
}

TEST_CASE("Values of 64 bits and vectors move by dwords") {
  for (const Target& target : targets()) {
    Probe probe(target);
    probe.result(shuffle(probe.operand<Vec<Float32, 4>>(), probe.i32()));
    probe.result(lane_xor(probe.operand<Int64>(), 8));
    const std::string isa = probe.build().stages.isa;
    CHECK(lines_with(isa, "ds_bpermute_b32").size() == 4);
    CHECK(exchanges(isa).size() == 4 + 2);
  }
}

TEST_CASE("A uniform value lives in scalar registers") {
  Probe probe(kTargetGfx950);
  const Uniform<Int32> first = uniform(probe.i32());
  const BufferResource buffer(probe.memory() + first * 4);
  probe.result(load<Int32>(buffer, lane_id() * 4, {.scalar_offset = first}));
  const std::string isa = probe.build().stages.isa;
  CHECK(has_instruction(isa, "v_readfirstlane_b32"));
  CHECK(lines_with(isa, "v_readfirstlane_b32").size() ==
        1);  // a descriptor in vector registers would need a loop of them
}

template <class T>
std::size_t lanes_read(const Target& target) {
  Probe probe(target);
  const T value = probe.operand<T>();
  probe.result(T(uniform(value)));
  probe.result(T(readlane(value, probe.scalar())));
  const std::string isa = probe.build().stages.isa;
  CHECK(lines_with(isa, "v_readlane_b32").size() == lines_with(isa, "v_readfirstlane_b32").size());
  return lines_with(isa, "v_readlane_b32").size();
}

TEST_CASE("Values of every type become uniform, a register at a time") {
  for (const Target& target : targets()) {
    CHECK(lanes_read<Int32>(target) == 1);
    CHECK(lanes_read<Float32>(target) == 1);
    CHECK(lanes_read<Int16>(target) == 1);
    CHECK(lanes_read<BFloat16>(target) == 1);
    CHECK(lanes_read<UInt8>(target) == 1);
    CHECK(lanes_read<Bool>(target) == 1);
    CHECK(lanes_read<Int64>(target) == 2);
    CHECK(lanes_read<Float64>(target) == 2);
    CHECK(lanes_read<Vec<Int32, 4>>(target) == 4);
    CHECK(lanes_read<Vec<Float32, 3>>(target) == 3);
    CHECK(lanes_read<Vec<BFloat16, 8>>(target) == 4);
    CHECK(lanes_read<Vec<UInt8, 16>>(target) == 4);
  }
}

TEST_CASE("A pointer that is the same in all lanes can be made uniform and carry a descriptor") {
  for (const Target& target : targets()) {
    Probe probe(target);
    const Ptr<Int32, Global> row = probe.memory() + (probe.i32() >> 6);
    probe.result(load<Int32>(BufferResource(uniform(row)), lane_id() * 4));
    const std::string isa = probe.build().stages.isa;
    CHECK(lines_with(isa, "v_readfirstlane_b32").size() == 2);
  }
}

TEST_CASE("A scaled MFMA stays in front of the branch that uses its result") {
  Probe probe(kTargetGfx950);
  using A = MxOperand<MxFormat::kFp4>;
  const auto product = mfma_scale_f32_16x16x128<MxFormat::kFp4, MxFormat::kFp4>(
      probe.operand<A>(), probe.operand<A>(), probe.operand<Vec<Float32, 4>>(), MxScale<0>{probe.i32()},
      MxScale<0>{probe.i32()});
  If(lane_id() < 16, [&] { probe.result(product); });
  const std::string isa = probe.build().stages.isa;
  const std::size_t mfma = isa.find("v_mfma_scale_f32_16x16x128");
  const std::size_t branch = isa.find("saveexec");
  REQUIRE(mfma != std::string::npos);
  REQUIRE(branch != std::string::npos);
  CHECK(mfma < branch);
}

}  // namespace
}  // namespace monojit::ir
