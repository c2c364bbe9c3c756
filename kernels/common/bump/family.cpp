#include "kernels/common/bump/generator_digest.h"
#include "kernels/common/bump/key.h"

namespace monojit::kernels::bump {

namespace {

Launch launch(const BuildKey& /*key*/) { return {.workgroups = 1, .workgroup_size = kThreads}; }

void check(const BuildKey& /*key*/, std::string_view arch, std::vector<std::string>& reasons) {
  if (arch != "gfx950" && arch != "gfx942") reasons.emplace_back("arch must be gfx950 or gfx942");
}

}  // namespace

const Family kBump = {
    .name = "common.bump",
    .summary = "The next number of a forward pass: the first launch of a captured step",
    .symbol_stem = "common_bump",
    .generator_digest = kernels_common_bump::kGeneratorDigest,
    .fields = {},
    .arguments = kArguments,
    .launch = launch,
    .check = check,
};

}  // namespace monojit::kernels::bump
