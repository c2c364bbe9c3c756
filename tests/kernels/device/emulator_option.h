#pragma once

#include <string>
#include <utility>

#include "runtime/hip/emulator_extras.h"

namespace monojit::tests {

/// An option of the emulator until the end of the block.
class EmulatorOption {
 public:
  EmulatorOption(const runtime::HipTable& hip, std::string name, const std::string& value, std::string afterwards)
      : hip_(hip), name_(std::move(name)), afterwards_(std::move(afterwards)) {
    runtime::set_emulator_option(hip_, name_, value);
  }
  ~EmulatorOption() { runtime::set_emulator_option(hip_, name_, afterwards_); }
  EmulatorOption(const EmulatorOption&) = delete;
  EmulatorOption& operator=(const EmulatorOption&) = delete;

 private:
  const runtime::HipTable& hip_;
  std::string name_;
  std::string afterwards_;
};

/// Weak memory with the freedom of a seed until the end of the block.
class WeakMemory {
 public:
  WeakMemory(const runtime::HipTable& hip, int seed)
      : seed_(hip, "seed", std::to_string(seed), "0"), memory_(hip, "memory", "weak", "coherent") {}

 private:
  EmulatorOption seed_, memory_;
};

}  // namespace monojit::tests
