#include "kernels/bench/peak/generator_digest.h"
#include "kernels/bench/peak/key.h"

namespace monojit::kernels::bench {

namespace {

constexpr auto kFields = plain_fields(kPeakFields);

Launch launch(const BuildKey& /*key*/) { return {.workgroups = kPeakWorkgroups, .workgroup_size = kPeakThreads}; }

void check(const BuildKey& key, std::string_view arch, std::vector<std::string>& reasons) {
  if (arch != "gfx950" && arch != "gfx942") reasons.emplace_back("arch must be gfx950 or gfx942");
  if (arch == "gfx942" && peak_key(key).unit == PeakUnit::kMfmaFp4)
    reasons.emplace_back("unit=mfma_fp4 needs gfx950: gfx942 has no scaled MFMA");
}

}  // namespace

const Family kPeak = {
    .name = "bench.peak",
    .summary = "Arithmetic without an end, for the rates of monojit bench",
    .symbol_stem = "bench_peak",
    .generator_digest = kernels_bench_peak::kGeneratorDigest,
    .fields = kFields,
    .arguments = kPeakArguments,
    .launch = launch,
    .check = check,
};

}  // namespace monojit::kernels::bench
