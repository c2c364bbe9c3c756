#include "kernels/emitters.h"

#include <fmt/format.h>

#include "kernels/bench/peak/emit.h"
#include "kernels/common/bump/emit.h"
#include "kernels/example/row_norm/emit.h"
#include "kernels/kimi_k3/k2/emit/program.h"
#include "kernels/minimax_m3/k1/emit/program.h"

namespace monojit::kernels {

namespace {

struct Entry {
  std::string_view family;
  Emitter emitter;
};
constexpr Entry kEmitters[] = {
    {"bench.peak", bench::emit_peak},
    {"common.bump", bump::emit_bump},
    {"example.row_norm", example::emit_row_norm},
    {"kimi_k3.k2", kimi_k3::emit_k2},
    {"minimax_m3.k1", minimax_m3::emit_k1},
};

}  // namespace

Emitter find_emitter(const Family& family) {
  for (const Entry& entry : kEmitters) {
    if (entry.family == family.name) return entry.emitter;
  }
  throw UserError(fmt::format("{}: this build has no emitter for it", family.name));
}

std::unique_ptr<ir::Kernel> emit(const BuildKey& key, const ir::Target& target) {
  return emit_kernel(key, target, find_emitter(key.family()));
}

}  // namespace monojit::kernels
