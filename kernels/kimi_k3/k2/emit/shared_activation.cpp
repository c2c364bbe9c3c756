#include "kernels/kimi_k3/k2/emit/shared_activation.h"

#include "kernels/kimi_k3/k2/emit/activation.h"

namespace monojit::kernels::kimi_k3 {

namespace {
constexpr int kGateWords = kSharedIntermediate / 2;
}  // namespace

void shared_activation(const Context& k, const Uniform<Int32>& token) {
  const Region& sgu = k.scratch_map.sgu;
  const Region& h = k.scratch_map.h;
  static_assert(kGateWords % kWaveLanes == 0);
  If(wave_id() < kGateWords / kWaveLanes, [&] {
    const Int32 gate_word = sgu.at(Int32(token), thread_id());
    const std::vector<Int32> words = k.box(sgu).poll(std::array{PairRun{gate_word}, PairRun{gate_word, 1, kGateWords}});
    const Vec<Float32, 2> gate = values_of(words[0]);
    const Vec<Float32, 2> up = values_of(words[1]);
    const auto both = vec(shared_activation_of(gate[0], up[0]), shared_activation_of(gate[1], up[1]));
    k.box(h).put(h.at(Int32(token), thread_id()), word_of(both));
  });
  compiler_fence();  // else LLVM joins the branch with its caller's, and the code counts for another stage
}

}  // namespace monojit::kernels::kimi_k3
