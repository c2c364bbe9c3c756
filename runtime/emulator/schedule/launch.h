// One kernel launch, as the scheduler takes it.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/code/module.h"
#include "runtime/emulator/execute/work_counts.h"

namespace monojit::emulator {

class Profile;
class Trace;

/// Bytes of stack that a lane has where the compiler can't tell how much the kernel needs (recursion, calls through
/// pointers), unless hipLimitStackSize says something else.
inline constexpr u32 kDefaultStackBytes = 1024;

struct LaunchRequest {
  const Kernel* kernel = nullptr;
  u32 device = 0;
  int priority = 0;                   ///< of the stream: lower numbers get room on the device first
  std::array<u32, 3> grid{1, 1, 1};   ///< workgroups
  std::array<u32, 3> block{1, 1, 1};  ///< work-items of a workgroup
  u32 dynamic_lds = 0;
  u32 stack_bytes = kDefaultStackBytes;  ///< a lane, for kernels with a dynamic stack
  std::vector<u8> arguments;             ///< the kernel argument segment, without hidden arguments
  bool cooperative = false;
  Profile* profile = nullptr;  ///< told what was executed; null: nobody is
  Trace* trace = nullptr;      ///< told what ran and waited when; null: nobody is

  [[nodiscard]] u64 workgroups() const { return u64{grid[0]} * grid[1] * grid[2]; }
  [[nodiscard]] u32 work_items() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] u32 waves() const { return (work_items() + kLanes - 1) / kLanes; }
  [[nodiscard]] u32 lds_bytes() const { return kernel->descriptor.lds_bytes + dynamic_lds; }
  /// Of a lane.
  [[nodiscard]] u32 scratch_bytes() const {
    const KernelDescriptor& needs = kernel->descriptor;
    return needs.dynamic_stack ? std::max(needs.scratch_bytes, stack_bytes) : needs.scratch_bytes;
  }
};

/// What a launch did.
struct LaunchReport : WorkCounts {
  u64 rounds = 0;
  double seconds = 0;
};

/// Checks sizes against the kernel and the chip. Throws Failure naming the limit: kInvalidLaunch, or kNotCoResident for
/// a cooperative grid that the chip does not hold at once.
void check_launch(const LaunchRequest& request, const ChipLimits& chip);

/// Grid and block sizes, as hidden arguments tell them to the kernel, appended to or written over `arguments`.
void fill_hidden_arguments(const LaunchRequest& request, std::vector<u8>& arguments);

}  // namespace monojit::emulator
