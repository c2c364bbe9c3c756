#include "tools/stages.h"

#include <utility>

#include "runtime/compiler/compiler_loader.h"
#include "tools/entry_use.h"

namespace monojit::tools {

BuiltStages obtain_stages(const kernels::BuildKey& key, const std::string& arch, const BuildFlags& flags,
                          const runtime::StageRequest& stages) {
  const runtime::Obtained obtained = get_loadable(*make_jit(flags), key, arch);
  BuiltStages result{.compiled = {}, .source = obtained.source};
  result.compiled = runtime::Compiler::open()->inspect(key, arch, *obtained.kernel->code_object,
                                                       obtained.kernel->record.ir_digest, stages);
  result.compiled.kernel.record = obtained.kernel->record;
  return result;
}

}  // namespace monojit::tools
