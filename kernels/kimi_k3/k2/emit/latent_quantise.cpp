#include "kernels/kimi_k3/k2/emit/latent_quantise.h"

#include "kernels/kimi_k3/k2/emit/activation.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kBlockWords = kMxBlock / 2;             // of two bf16
constexpr int kFp4Words = kMxBlock / kFp4WordValues;  // of eight FP4
constexpr std::int32_t kMagnitudes = 0x7FFF7FFF;

// The largest magnitude of bf16 words, as an f32: as integers, magnitudes keep their order.
Float32 largest_magnitude(const std::vector<Int32>& words) {
  Int32 largest = 0;
  for (const Int32& word : words) {
    const Int32 magnitudes = word & kMagnitudes;
    largest = max(largest, max(magnitudes << 16, magnitudes & ~0xFFFF));
  }
  return bitcast<Float32>(largest);
}

Int32 pack_word(const std::vector<Int32>& words, int first, const Float32& scale) {
  const auto pair = [&](int i) { return bitcast<Vec<BFloat16, 2>>(words[static_cast<std::size_t>(first + i)]); };
  Int32 packed = 0;
  packed = mx_pack4<0>(pair(0), scale, packed);
  packed = mx_pack4<1>(pair(1), scale, packed);
  packed = mx_pack4<2>(pair(2), scale, packed);
  return mx_pack4<3>(pair(3), scale, packed);
}

void quantise_block(const Context& k, const Int32& block) {
  const std::vector<Int32> words =
      k.peer_box(k.peer_map.lat).poll(std::array{PairRun{block * kBlockWords, kBlockWords}});
  const Int32 code = scale_code(largest_magnitude(words));
  const Float32 scale = scale_of(code);
  Vec<Int32, kFp4Words> packed = 0;
  for (int word = 0; word < kFp4Words; ++word) packed.set(word, pack_word(words, 4 * word, scale));
  store(k.lds.latent_words + block * kFp4Words, packed);
  store(k.lds.latent_scales + block, code);
}

}  // namespace

void quantise_latent(const Context& k) {
  const int blocks = k.tokens() * kLatentBlocks;
  for (int first = 0; first < blocks; first += kThreads) {
    const Int32 block = thread_id() + first;
    if (first + kThreads <= blocks) {
      quantise_block(k, block);
    } else {
      If(block < blocks, [&] { quantise_block(k, block); });
    }
  }
}

}  // namespace monojit::kernels::kimi_k3
