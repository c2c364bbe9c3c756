// A wave of 64 lanes over one buffer: what most tests of memory instructions need around the instruction under test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {

/// At the start: s[4:5] the buffer, s[8:11] a descriptor over it, v0 the lane, v1 lane * pitch, v[2:3] the address of
/// the buffer plus v1, v[4:7] kUntouched, v[30:31] zero. At the end v[4:7] of all lanes are the result.
struct LaneProgram {
  std::string body;
  std::vector<std::uint32_t> data = std::vector<std::uint32_t>(1024);  ///< the buffer's contents
  std::uint32_t pitch = 4;
  std::uint32_t records = 4096;
  std::uint32_t stride = 0;  ///< bits 31:16 of descriptor word 1
  std::uint32_t flags = 0x00027000;
  std::uint64_t exec = ~std::uint64_t{0};  ///< while the body runs
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes = 0;
  std::uint32_t denormals = 3;
  Settings settings{};
};

inline constexpr std::uint32_t kUntouched = 0xa5a5a5a5;

struct LaneResult {
  std::vector<std::uint32_t> words;   ///< v[4:7] of each lane
  std::vector<std::uint32_t> memory;  ///< the buffer afterwards
  LaunchReport report;

  [[nodiscard]] std::uint32_t at(std::uint32_t lane, std::uint32_t word = 0) const { return words[4 * lane + word]; }
};

/// Throws Failure.
LaneResult run_lanes(const LaneProgram& program);

/// What stops the program, which must be something: else "nothing failed".
std::string failure_text(const LaneProgram& program);

}  // namespace monojit::emulator::test
