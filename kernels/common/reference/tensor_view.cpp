#include "kernels/common/reference/tensor_view.h"

#include <algorithm>
#include <utility>

#include "kernels/common/error.h"

namespace monojit::kernels::reference {

bool RankMemory::has(std::string_view name) const {
  return std::ranges::find(views_, name, &TensorView::name) != views_.end();
}

const TensorView& RankMemory::view(std::string_view name) const {
  const auto found = std::ranges::find(views_, name, &TensorView::name);
  if (found == views_.end()) throw UserError("there is no tensor \"" + std::string(name) + "\"");
  return *found;
}

TensorView& RankMemory::view(std::string_view name) { return const_cast<TensorView&>(std::as_const(*this).view(name)); }

}  // namespace monojit::kernels::reference
