// Litmus tests: a few waves with a few memory accesses each, run under many seeds of the weak memory mode.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {

/// Where the waves of a test stand to each other.
enum class Apart { kSameCu, kSameXcd, kOtherXcd, kOtherDevice };
inline constexpr Apart kEveryApart[] = {Apart::kSameCu, Apart::kSameXcd, Apart::kOtherXcd, Apart::kOtherDevice};

/// What LLVM's AMDGPU memory model makes of release and acquire at one scope.
struct ScopeCode {
  std::string name;
  std::string bits;         ///< of a store or load
  std::string atomic_bits;  ///< of a read-modify-write
  std::string write_back;   ///< before the wait of a release
  std::string invalidate;   ///< behind the wait of an acquire
};
const ScopeCode& workgroup_scope();
const ScopeCode& agent_scope();
const ScopeCode& system_scope();
/// The scope that waves so far apart need at least.
const ScopeCode& scope_for(Apart apart);

// Pieces of a wave's code. Variables are x, y, z, each in a line of its own; results go to r0..r3. A wave has lane 0
// alone, and the workgroup 64 bytes of LDS.
std::string store(char variable, std::uint32_t value, const std::string& bits = "");
std::string load(int result, char variable, const std::string& bits = "");
/// To the first word of LDS.
std::string load_to_lds(char variable);
std::string add(char variable, std::uint32_t value, const std::string& bits = "");
inline const std::string kWait = "s_waitcnt vmcnt(0)\n";
/// All earlier accesses before a later store at the scope; and a load before all later accesses.
std::string release(const ScopeCode& scope);
std::string acquire(const ScopeCode& scope);
/// Loads `variable` until it is at least `value`, some hundred times at most; r3 becomes 1 if that was in vain.
std::string poll(char variable, std::uint32_t value, const std::string& bits);

/// r0..r3 of each wave.
using Outcome = std::vector<std::uint32_t>;

struct Litmus {
  std::vector<std::string> waves;
  Apart apart = Apart::kOtherXcd;
  MemoryKind kind = MemoryKind::kCoarseGrained;
  /// The variables lie in a large allocation of each run's own, which no kernel has written before.
  bool untouched = false;
  /// Of x, y and z before each run.
  std::array<std::uint32_t, 3> initial{};
};

/// Runs the test once under each seed from 1 to `seeds`.
std::map<Outcome, std::uint32_t> outcomes(const Litmus& litmus, std::uint32_t seeds);

/// How often `wanted` held.
std::uint32_t count(const std::map<Outcome, std::uint32_t>& outcomes,
                    const std::function<bool(const Outcome&)>& wanted);

}  // namespace monojit::emulator::test
