#include "kernels/example/row_norm/generator_digest.h"
#include "kernels/example/row_norm/key.h"

namespace monojit::kernels::example {

namespace {

constexpr auto kFields = plain_fields(kRowNormFields);

Launch launch(const BuildKey& key) {
  const int workgroups = (row_norm_key(key).rows + kRowNormWaves - 1) / kRowNormWaves;
  return {.workgroups = static_cast<std::uint32_t>(workgroups), .workgroup_size = kRowNormWaves * kRowNormLanes};
}

void check(const BuildKey& key, std::string_view arch, std::vector<std::string>& reasons) {
  if (arch != "gfx950" && arch != "gfx942") reasons.emplace_back("arch must be gfx950 or gfx942");
  if (row_norm_key(key).hidden % kRowNormStep != 0) reasons.emplace_back("hidden must be a multiple of 512");
}

}  // namespace

const Family kRowNorm = {
    .name = "example.row_norm",
    .summary = "RMSNorm of bf16 rows, the kernel of docs/writing-a-kernel.md",
    .symbol_stem = "example_row_norm",
    .generator_digest = kernels_example_row_norm::kGeneratorDigest,
    .fields = kFields,
    .arguments = kRowNormArguments,
    .launch = launch,
    .check = check,
};

}  // namespace monojit::kernels::example
