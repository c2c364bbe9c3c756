#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::runtime {

/// What one rank has of the kernels that it is to launch (Jit::try_warm). An engine gathers those of all ranks and
/// compares them: nothing in this library asks another rank, or waits for one.
struct Verdict {
  std::vector<std::string> reasons;  ///< why a kernel is not ready, in the order of the keys; empty: all are
  std::string toolchain;             ///< "llvm-22.1.8/comgr-3.0"
  std::string keys;                  ///< digest of the keys in their order, with the arch and the generators
  std::string code;                  ///< digest of the code objects in that order; of no meaning without all of them
  std::uint64_t built = 0;           ///< kernels that this rank compiled
  std::uint64_t read = 0;            ///< from its folder, a read-only place or a remote
  std::uint64_t held = 0;            ///< that it had in memory

  bool ok() const { return reasons.empty(); }
  bool operator==(const Verdict&) const = default;
};

std::string to_json_text(const Verdict& verdict);
/// Throws std::runtime_error for a text that is none.
Verdict verdict_from_json(std::string_view text);

/// Why the ranks must not launch, given the verdicts of all in their order: "rank 3: …". Empty: each is ready, with the
/// same kernels.
std::vector<std::string> disagreements(std::span<const Verdict> ranks);

}  // namespace monojit::runtime
