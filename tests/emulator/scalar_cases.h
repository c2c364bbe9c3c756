// Table-driven tests of scalar instructions: one kernel executes every row for each pair of edge values, with SCC clear
// and set, and results and SCC are compared with the row's own definition.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace monojit::emulator::test {

struct ScalarInputs {
  std::uint64_t a, b;
  std::uint32_t scc;
  std::uint64_t exec;
  [[nodiscard]] std::uint32_t a32() const { return static_cast<std::uint32_t>(a); }
  [[nodiscard]] std::uint32_t b32() const { return static_cast<std::uint32_t>(b); }
  [[nodiscard]] std::int32_t sa() const { return static_cast<std::int32_t>(a); }
  [[nodiscard]] std::int32_t sb() const { return static_cast<std::int32_t>(b); }
};

struct ScalarOutcome {
  std::uint64_t value;
  std::uint32_t scc;
};

/// a in s[8:9], b in s[10:11]; the result in s[12:13], which held zero.
struct ScalarCase {
  std::string text;
  std::function<ScalarOutcome(const ScalarInputs&)> expected;
};

void check_scalar_cases(std::span<const ScalarCase> cases);

inline ScalarOutcome nonzero(std::uint64_t value) { return {value, value != 0}; }
inline std::uint64_t low(std::int64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace monojit::emulator::test
