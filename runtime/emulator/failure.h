// What goes wrong inside the emulator, before the HIP boundary turns it into an error code and a text.
#pragma once

#include <stdexcept>
#include <string>

namespace monojit::emulator {

enum class FailureKind {
  kInvalidValue,  ///< an argument of the HIP call
  kInvalidImage,  ///< not a code object
  kWrongChip,     ///< a code object for another chip
  kNotFound,      ///< no such kernel
  kOutOfMemory,
  kInvalidLaunch,       ///< grid, block, LDS or arguments do not fit the kernel or the chip
  kNotCoResident,       ///< a cooperative grid larger than what the chip holds at once
  kIllegalAddress,      ///< a memory fault of a running kernel
  kIllegalInstruction,  ///< an instruction that is unknown, or can't be executed
  kDeadlock,            ///< no wave can make progress
  kTimeLimit,           ///< the launch took longer than the settings allow
  kCheckFailed,         ///< one of the checks that were asked for found a mistake
  kTrap,                ///< the kernel executed s_trap
  kNotInitialized,      ///< bad settings in the environment
};

class Failure : public std::runtime_error {
 public:
  Failure(FailureKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  [[nodiscard]] FailureKind kind() const { return kind_; }

 private:
  FailureKind kind_;
};

}  // namespace monojit::emulator
