#pragma once

#include <string>

#include "cache/cache.h"
#include "kernels/common/family.h"
#include "runtime/compiler/compiler.h"
#include "tools/session.h"

namespace monojit::tools {

/// Stages of a kernel, and where it came from.
struct BuiltStages {
  runtime::Compiled compiled;
  cache::Source source = cache::Source::kBuilt;
};

/// The kernel of the cache, built into it where it is not there, and taken apart: ISA, metadata and resources are those
/// of its code object; its IR, where a stage asks for it, is emitted anew and compared with what the entry says it was
/// built of.
BuiltStages obtain_stages(const kernels::BuildKey& key, const std::string& arch, const BuildFlags& flags,
                          const runtime::StageRequest& stages);

}  // namespace monojit::tools
