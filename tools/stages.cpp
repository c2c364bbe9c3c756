#include "tools/stages.h"

#include <utility>

#include "runtime/compiler/compiler_loader.h"

namespace monojit::tools {

BuiltStages obtain_stages(const kernels::BuildKey& key, const std::string& arch, const BuildFlags& flags) {
  const runtime::Obtained obtained = make_jit(flags)->get(key, arch);
  const runtime::StageRequest all = {.emitted_ir = true, .optimised_ir = true, .isa = true, .metadata = true};
  BuiltStages result{.compiled = {}, .source = obtained.source};
  result.compiled = runtime::Compiler::open()->inspect(key, arch, *obtained.kernel->code_object,
                                                       obtained.kernel->record.ir_digest, all);
  result.compiled.kernel.record = obtained.kernel->record;
  return result;
}

}  // namespace monojit::tools
