#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/isa/listing.h"
#include "codegen/object/resources.h"
#include "ir/target.h"

namespace monojit::codegen {

/// What a build may be.
struct Policy {
  /// Its workgroups wait on each other and must stay resident together: no scratch, no VGPR spills.
  bool persistent = false;
};

/// Throws CodegenError with every reason why `kernel` must not run on `target`, each with the number found and its
/// limit. Appends what is allowed but worth knowing to `warnings`.
void check_policy(const KernelMetadata& kernel, const Listing& listing, const ir::Target& target, const Policy& policy,
                  std::vector<std::string>& warnings);

}  // namespace monojit::codegen
