#include "kernels/common/bump/emit.h"

#include <cstdint>
#include <limits>

#include "ir/dsl.h"

namespace monojit::kernels::bump {

using namespace monojit::ir;

void emit_bump(Kernel& kernel, const BuildKey& /*key*/) {
  const auto epoch = kernel.argument<Ptr<Int32, Global>>("epoch");
  const Int32 next = (load(epoch) + 1) & std::numeric_limits<std::int32_t>::max();
  If(thread_id() == 0, [&] { store(epoch, next); });
}

}  // namespace monojit::kernels::bump
