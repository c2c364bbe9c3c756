// What launches executed, instruction by instruction.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/emulator/code/module.h"
#include "runtime/emulator/execute/counts.h"
#include "runtime/emulator/execute/segment_profile.h"

namespace monojit::emulator {

struct ProfiledInstruction {
  u64 address = 0;  ///< in the code object
  std::string text{};
  std::string source{};  ///< "kernels.cl:12"; empty where the object does not say
  CountClass count = CountClass::kOther;
  bool dropped = false;  ///< does nothing in this memory mode (waits, nops): not executed and not counted
  u64 executions = 0;    ///< wave-instructions; exact
  u64 out_of_range = 0;  ///< those of them whose lanes all lay behind a buffer's end: nothing was moved
  /// Ticks of the host's time stamp counter. Those of a straight run are measured; inside of it they are shared out by
  /// what instructions of a class cost on average.
  double ticks = 0;
};

struct ProfiledKernel {
  std::string name;
  u64 launches = 0;
  std::vector<ProfiledInstruction> instructions;  ///< by rising address
};

/// Collects launches until it is cleared. Kernels are told apart by name and code, and by the memory mode's dropped
/// instructions.
class Profile {
 public:
  /// Adds a launch of `kernel` as `program`, of which each worker saw a part; it may have failed on its way.
  void add(const Kernel& kernel, const Program& program, std::span<const SegmentProfile> parts);
  [[nodiscard]] std::vector<ProfiledKernel> kernels() const;
  void clear();

 private:
  ProfiledKernel& entry_of(const Kernel& kernel, const Program& program);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ProfiledKernel>> kernels_;
};

}  // namespace monojit::emulator
