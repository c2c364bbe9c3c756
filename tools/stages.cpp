#include "tools/stages.h"

#include <utility>

#include "runtime/compiler/compiler_loader.h"
#include "tools/entry_use.h"

namespace monojit::tools {

BuiltStages obtain_stages(const kernels::BuildKey& key, const std::string& arch, const BuildFlags& flags,
                          const runtime::StageRequest& stages) {
  BuiltStages result;
  const auto take_apart = [&](const runtime::CompiledKernel& kernel) {
    result.compiled =
        runtime::Compiler::open()->inspect(key, arch, *kernel.code_object, kernel.record.ir_digest, stages);
  };
  const runtime::Obtained obtained = get_loadable(*make_jit(flags), key, arch, take_apart);
  result.source = obtained.source;
  result.compiled.kernel.record = obtained.kernel->record;
  return result;
}

}  // namespace monojit::tools
