#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/bench/peak/key.h"
#include "kernels/common/bump/key.h"
#include "kernels/common/family.h"
#include "kernels/example/row_norm/key.h"
#include "kernels/kimi_k3/k2/key.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels {
namespace {

constexpr const Family* kFamilies[] = {&bench::kPeak, &bump::kBump, &example::kRowNorm, &kimi_k3::kK2,
                                       &minimax_m3::kK1};

}  // namespace

std::span<const Family* const> families() { return kFamilies; }

const Family& family(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Family* const candidate : kFamilies) {
    if (candidate->name == name) return *candidate;
    names.push_back(candidate->name);
  }
  throw UserError(fmt::format("unknown kernel '{}'; kernels are {}", name, fmt::join(names, ", ")));
}

}  // namespace monojit::kernels
