#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr float kOcpMax = 448.0F;

// Specification §3.4: new in every launch on one scratch.
Uniform<Int32> launch_tag(const Kernel& kernel) {
  const Uniform<Int32> step = load(kernel.argument<Ptr<Int32, Global>>("step"));
  return step * kLayerSlots + kernel.argument<Int32>("layer") + 1;
}

template <class T>
LdsArray<T> lds(std::string_view name, int elements) {
  return LdsLayout().array<T>(name, static_cast<std::uint32_t>(elements));
}

}  // namespace

Context::Context(Kernel& kernel, const K1Key& k1_key)
    : key(k1_key),
      x8(lds<UInt8>("x8", key.tokens * kActivationPitch)),
      red(lds<Float32>("red", kRedWords)),
      qkv(kernel.argument<Ptr<UInt8, Global>>("scratch") + kScratchQkv, launch_tag(kernel)),
      timeline(key.timeline),
      activation_max(kernel.target().chip == Chip::kGfx942 ? kOcpMax / 2 : kOcpMax),
      cache_max(kernel.target().fp8_max) {
  const auto bf16 = [&](std::string_view name) { return kernel.argument<Ptr<BFloat16, Global>>(name); };
  const auto bytes = [&](std::string_view name) { return kernel.argument<Ptr<UInt8, Global>>(name); };
  const auto f32 = [&](std::string_view name) { return kernel.argument<Ptr<Float32, Global>>(name); };
  const auto dwords = [&](std::string_view name) { return kernel.argument<Ptr<Int32, Global>>(name); };
  ar = bf16("ar");
  res = bf16("res");
  h_out = bf16("h_out");
  g_in = bf16("g_in");
  w_qkv = bytes("w_qkv");
  s_qkv = f32("s_qkv");
  g_q = bf16("g_q");
  g_k = bf16("g_k");
  g_iq = bf16("g_iq");
  g_ik = bf16("g_ik");
  cos_sin = bf16("cos_sin");
  positions = dwords("positions");
  slot_mapping = dwords("slot_mapping");
  k_cache = bytes("k_cache");
  v_cache = bytes("v_cache");
  k_scale = f32("k_scale");
  v_scale = f32("v_scale");
  index_cache = bytes("index_cache");
  q_out = bf16("q_out");
  iq_out = bf16("iq_out");
  tl = kernel.argument<Ptr<Int64, Global>>("tl");
}

}  // namespace monojit::kernels::minimax_m3
