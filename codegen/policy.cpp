#include "codegen/policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/error.h"
#include "codegen/isa/exec_scan.h"

namespace monojit::codegen {
namespace {

using Texts = std::vector<std::string>;

void check_resources(const Resources& r, const ir::Target& target, const Policy& policy, Texts& reasons) {
  if (r.lds_bytes > target.lds_bytes) {
    reasons.push_back(fmt::format("{} bytes of LDS, {} has {}", r.lds_bytes, target.arch, target.lds_bytes));
  }
  if (r.dynamic_stack)
    reasons.emplace_back("a stack of unknown size (recursion, an indirect call or a variable-size array), limit none");
  if (!policy.persistent) return;
  if (r.scratch_bytes > 0)
    reasons.push_back(fmt::format("{} bytes of scratch a lane, limit 0 in a persistent kernel", r.scratch_bytes));
  if (r.vgpr_spills > 0)
    reasons.push_back(fmt::format("{} VGPRs spilled, limit 0 in a persistent kernel", r.vgpr_spills));
}

std::string text_of(const MaskedMfma& found) {
  return fmt::format("{} at {:#x} ({}) {} the branch of {}", found.instruction.mnemonic, found.instruction.address,
                     to_text(found.instruction.line), found.certain ? "behind" : "perhaps behind",
                     to_text(found.narrowed_at));
}

/// LLVM must not have moved a scaled MFMA behind a divergent branch; any other one there was written so, most likely by
/// mistake.
void check_masked_mfmas(const Listing& listing, Texts& reasons, Texts& warnings) {
  Texts plain;
  for (const MaskedMfma& found : find_masked_mfmas(listing.instructions())) {
    if (is_scaled_mfma(found.instruction) && found.certain) {
      reasons.push_back(fmt::format(
          "a scaled MFMA that runs with lanes switched off, so that its operands are not computed in all of them: {}",
          text_of(found)));
    } else {
      plain.push_back(text_of(found));
    }
  }
  if (!plain.empty()) {
    warnings.push_back(fmt::format("{} MFMA(s) run with lanes switched off, first: {}", plain.size(), plain.front()));
  }
}

}  // namespace

void check_policy(const KernelMetadata& kernel, const Listing& listing, const ir::Target& target, const Policy& policy,
                  std::vector<std::string>& warnings) {
  Texts reasons;
  check_resources(kernel.resources, target, policy, reasons);
  check_masked_mfmas(listing, reasons, warnings);
  if (!reasons.empty()) {
    throw CodegenError(
        fmt::format("kernel {} is refused for {}: {}", kernel.symbol, target.arch, fmt::join(reasons, "; ")));
  }
  if (kernel.resources.sgpr_spills > 0) {
    warnings.push_back(
        fmt::format("{} SGPRs spilled to lanes of vector registers (the goal is 0: keep fewer buffer resources "
                    "and 64-bit addresses alive at once)",
                    kernel.resources.sgpr_spills));
  }
}

}  // namespace monojit::codegen
