#include "kernels/minimax_m3/k1/reference/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/random.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/requests.h"
#include "kernels/minimax_m3/k1/reference/shapes.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;
using reference::Fp8Format;
using reference::Random;
using Tensors = std::vector<Tensor>;

constexpr double kRopeTheta = 5e6;
constexpr float kResidualDeviation = 1.0F;
constexpr float kAttentionDeviation = 0.5F;
constexpr float kGammaDeviation = 0.1F;
constexpr float kWeightDeviation = 110;  // in FP8 units: a row's largest of 6144 comes out near 448
constexpr float kScalarKvScale = 0.01F;  // values up to about 4 reach the FP8 maximum
constexpr std::uint64_t kMaxStep = 1000;

/// Streams of the seed, one a tensor: a change to one leaves the others alone.
std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char letter : name) hash = (hash ^ static_cast<std::uint8_t>(letter)) * 0x100000001B3U;
  return hash;
}

class Generator {
 public:
  Generator(const K1Key& key, std::string_view arch, std::uint64_t seed)
      : key_(key), arch_(arch), format_(chip_rules(arch).format), seed_(seed) {}

  Tensors run() {
    for (const TensorShape& shape : tensor_shapes(key_, {})) {
      tensors_.push_back(reference::make_tensor(std::string(shape.name), shape.dtype, shape.extents));
    }
    activations();
    weights();
    rotary_table();
    set_requests(key_, arch_, seed_, random_requests(key_, seed_), tensors_);
    scalars();
    for (const std::string_view name : {"h_out", "q_out", "iq_out", "k_cache", "v_cache"}) canary(name);
    scales("k_scale");
    scales("v_scale");
    old_scores();
    return std::move(tensors_);
  }

 private:
  Random random(std::string_view name) const { return {seed_, stream_of(name)}; }

  void gaussian(std::string_view name, float deviation) {
    Random source = random(name);
    for (BFloat16Bits& bits : elements<BFloat16Bits>(tensors_, name)) {
      bits = reference::bf16_bits(source.gaussian() * deviation);
    }
  }

  void activations() {
    gaussian("ar", kAttentionDeviation);
    gaussian("res", kResidualDeviation);
    for (const std::string_view name : {"g_in", "g_q", "g_k", "g_iq", "g_ik"}) gaussian(name, kGammaDeviation);
  }

  /// 4096 draws of a Gaussian as OCP bytes, with signed zeros and subnormals among them as real weights have.
  static std::array<std::uint8_t, 4096> weight_codes(Random& source) {
    std::array<std::uint8_t, 4096> codes{};
    for (std::uint8_t& code : codes) {
      const float value = std::clamp(source.gaussian() * kWeightDeviation, -448.0F, 448.0F);
      code = reference::fp8_bits(Fp8Format::kOcp, value);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      codes[i] = static_cast<std::uint8_t>(i);
      codes[i + 8] = static_cast<std::uint8_t>(0x80 + i);
    }
    return codes;
  }

  void weights() {
    Random source = random("w_qkv");
    auto codes = weight_codes(source);
    // FNUZ reads a byte as half its OCP value and has no -0: the host keeps the bytes and doubles the row scales.
    const bool fnuz = format_ == Fp8Format::kFnuz;
    if (fnuz) std::ranges::replace(codes, std::uint8_t{0x80}, std::uint8_t{0});
    const auto bytes = elements<std::uint8_t>(tensors_, "w_qkv");
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      const std::uint64_t word = source.bits();
      for (std::size_t part = 0; part < 4; ++part) bytes[i + part] = codes[(word >> (16 * part)) & 0xFFF];
    }
    Random scale_source = random("s_qkv");
    const float unit = 1.0F / (kWeightDeviation * std::sqrt(static_cast<float>(kHidden)));
    for (float& scale : elements<float>(tensors_, "s_qkv")) {
      scale = unit * static_cast<float>(0.5 + 1.5 * scale_source.uniform()) * (fnuz ? 2.0F : 1.0F);
    }
  }

  void rotary_table() {
    constexpr std::size_t kHalf = kRotaryDim / 2;
    const auto table = elements<BFloat16Bits>(tensors_, "cos_sin");
    for (std::size_t i = 0; i < kHalf; ++i) {
      const double frequency = std::pow(kRopeTheta, -static_cast<double>(i) / kHalf);
      for (std::size_t position = 0; position < table.size() / kRotaryDim; ++position) {
        const double angle = static_cast<double>(position) * frequency;
        table[position * kRotaryDim + i] = reference::bf16_bits(static_cast<float>(std::cos(angle)));
        table[position * kRotaryDim + kHalf + i] = reference::bf16_bits(static_cast<float>(std::sin(angle)));
      }
    }
  }

  void scalars() {
    const auto set = [&](std::string_view name, std::int64_t value) {
      elements<std::int32_t>(tensors_, name)[0] = static_cast<std::int32_t>(value);
    };
    Random source = random("step");
    set("step", static_cast<std::int64_t>(source.below(kMaxStep)));
    set("layer", static_cast<std::int64_t>(source.below(kMaxLayer + 1)));
  }

  void canary(std::string_view name) {
    Random source = random(name);
    source.fill(reference::named(tensors_, name).bytes);
  }

  /// Pairs of launches whose step no test comes to.
  void old_scores() {
    canary("iscore");
    const auto words = elements<std::uint32_t>(tensors_, "iscore");
    for (std::size_t i = 1; i < words.size(); i += 2) words[i] |= 0x80000000U;
  }

  void scales(std::string_view name) {
    if (key_.kv_scale != KvScale::kScalarRead) return canary(name);
    Random source = random(name);
    elements<float>(tensors_, name)[0] = kScalarKvScale * static_cast<float>(0.75 + 0.5 * source.uniform());
  }

  const K1Key& key_;
  std::string_view arch_;
  Fp8Format format_;
  std::uint64_t seed_;
  Tensors tensors_;
};

}  // namespace

std::vector<Tensor> generate_tensors(const K1Key& key, std::string_view arch, std::uint64_t seed) {
  return Generator(key, arch, seed).run();
}

}  // namespace monojit::kernels::minimax_m3
