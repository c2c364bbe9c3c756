// Table-driven tests of vector instructions: one kernel executes every row on edge values, and each lane's result is
// compared with the row's own definition.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {

/// One lane's inputs. In assembly: a is v[2:3], b is v[4:5], c is v[6:7], d is s[24:25], mask bits in s[20:21].
struct Lane {
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint64_t d = 0;      ///< the same in all lanes of a workgroup
  bool mask = false;        ///< this lane's bit of s[20:21] (and of vcc before each row)
  std::uint32_t index = 0;  ///< lane number

  [[nodiscard]] std::uint32_t a32() const { return static_cast<std::uint32_t>(a); }
  [[nodiscard]] std::uint32_t b32() const { return static_cast<std::uint32_t>(b); }
  [[nodiscard]] std::uint32_t c32() const { return static_cast<std::uint32_t>(c); }
  [[nodiscard]] std::uint32_t d32() const { return static_cast<std::uint32_t>(d); }
};

/// How results are compared.
enum class Match : std::uint8_t {
  kBits32,      ///< v10
  kBits64,      ///< v[10:11]
  kFloat32,     ///< v10: equal bits, or both NaN
  kFloat64,     ///< v[10:11]
  kFloatPair,   ///< v10 and v11 as two floats
  kHalf,        ///< v10: equal low half with a zero upper half, or both NaN
  kNear32,      ///< v10: within two units in the last place, or both NaN
  kMask,        ///< this lane's bit of s[22:23]
  kBits32Mask,  ///< v10, and this lane's bit of s[22:23] as bit 32 of what is expected
};

struct LaneCase {
  std::string text;  ///< instruction(s): result in v[10:11] (0x5a5a5a5a before) or s[22:23]
  Match match;
  std::function<std::uint64_t(const Lane&)> expected;
};

/// Which values the lanes get.
enum class Values : std::uint8_t { kIntegers, kFloats, kDoubles, kHalves };

/// Runs all rows with EXEC full and with two partial masks, on each instruction set that the host has, and reports the
/// first wrong lane of each row to Catch2.
void check_lane_cases(std::span<const LaneCase> cases, Values values, const Settings& settings = {});

}  // namespace monojit::emulator::test
