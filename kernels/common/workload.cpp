#include "kernels/common/workload.h"

#include <string>
#include <utility>

#include "kernels/common/bump/reference.h"
#include "kernels/common/error.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/example/row_norm/reference.h"
#include "kernels/minimax_m3/k1/reference/workload.h"

namespace monojit::kernels {
namespace {

struct Registered {
  std::string_view family;
  const Workload& (*workload)();
};

constexpr Registered kWorkloads[] = {
    {"common.bump", bump::bump_workload},
    {"example.row_norm", example::row_norm_workload},
    {"minimax_m3.k1", minimax_m3::k1_workload},
};

}  // namespace

Advance Workload::advance(const BuildKey& key, const std::vector<Tensor>& /*tensors*/) const {
  throw UserError(std::string(key.family().name) +
                  " is no layer of a model: its launches don't follow one another, so there is one at a time");
}

std::vector<std::pair<std::string, std::int64_t>> Workload::place(const BuildKey& /*key*/,
                                                                  const std::vector<Tensor>& /*tensors*/) const {
  return {};
}

std::optional<std::int64_t> Workload::weight_bytes(const BuildKey& /*key*/,
                                                   const std::vector<Tensor>& /*tensors*/) const {
  return std::nullopt;
}

void apply(const Advance& advance, std::vector<Tensor>& tensors) {
  for (const auto& [a, b] : advance.swaps) {
    Tensor& first = reference::named(tensors, a);
    Tensor& second = reference::named(tensors, b);
    std::swap(first.bytes, second.bytes);
    std::swap(first.shape, second.shape);
  }
  for (const Tensor& change : advance.changes) reference::named(tensors, change.name) = change;
}

const Workload& workload(const Family& family) {
  for (const Registered& registered : kWorkloads) {
    if (registered.family == family.name) return registered.workload();
  }
  throw UserError(std::string(family.name) + " has no host reference: it can be built, not verified");
}

}  // namespace monojit::kernels
