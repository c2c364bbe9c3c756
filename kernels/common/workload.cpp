#include "kernels/common/workload.h"

#include <string>

#include "kernels/common/error.h"
#include "kernels/example/row_norm/reference.h"
#include "kernels/minimax_m3/k1/reference/workload.h"

namespace monojit::kernels {
namespace {

struct Registered {
  std::string_view family;
  const Workload& (*workload)();
};

constexpr Registered kWorkloads[] = {
    {"example.row_norm", example::row_norm_workload},
    {"minimax_m3.k1", minimax_m3::k1_workload},
};

}  // namespace

const Workload& workload(const Family& family) {
  for (const Registered& registered : kWorkloads) {
    if (registered.family == family.name) return registered.workload();
  }
  throw UserError(std::string(family.name) + " has no host reference: it can be built, not verified");
}

}  // namespace monojit::kernels
