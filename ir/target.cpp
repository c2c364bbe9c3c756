#include "ir/target.h"

namespace monojit::ir {

namespace {
constexpr Target kTargets[] = {kTargetGfx942, kTargetGfx950};
}

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view arch) {
  for (const Target& target : kTargets)
    if (target.arch == arch) return &target;
  return nullptr;
}

}  // namespace monojit::ir
