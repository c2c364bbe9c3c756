#include "ir/ops.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "ir/intrinsics.h"

namespace monojit::ir {

namespace {
constexpr std::uint8_t kGfx942 = static_cast<std::uint8_t>(Chip::kGfx942);
constexpr std::uint8_t kGfx950 = static_cast<std::uint8_t>(Chip::kGfx950);
constexpr std::uint8_t kBoth = kGfx942 | kGfx950;

constexpr OpInfo kOps[] = {
#define MONOJIT_OP(name, intrinsic, chips, gfx942, gfx950) {#name, chips, gfx942, gfx950},
#include "ir/ops.inc"
#undef MONOJIT_OP
};

constexpr unsigned kIntrinsics[] = {
#define MONOJIT_OP(name, intrinsic, chips, gfx942, gfx950) llvm::Intrinsic::intrinsic,
#include "ir/ops.inc"
#undef MONOJIT_OP
};
}  // namespace

std::span<const OpInfo> ops() { return kOps; }

unsigned intrinsic_of(Op op) { return kIntrinsics[static_cast<std::size_t>(op)]; }

}  // namespace monojit::ir
