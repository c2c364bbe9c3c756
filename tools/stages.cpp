#include "tools/stages.h"

#include <utility>

#include "runtime/compiler/compiler_loader.h"

namespace monojit::tools {

BuiltStages obtain_stages(const kernels::BuildKey& key, const std::string& arch, const BuildFlags& flags,
                          const runtime::StageRequest& stages) {
  const runtime::Obtained obtained = make_jit(flags)->get(key, arch);
  BuiltStages result{.compiled = {}, .source = obtained.source};
  result.compiled = runtime::Compiler::open()->inspect(key, arch, *obtained.kernel->code_object,
                                                       obtained.kernel->record.ir_digest, stages);
  result.compiled.kernel.record = obtained.kernel->record;
  return result;
}

}  // namespace monojit::tools
