#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr float kOcpMax = 448.0F;

// Specification §3.4: new in every launch on one scratch.
Uniform<Int32> launch_tag(const Kernel& kernel) {
  const Uniform<Int32> step = load(kernel.argument<Ptr<Int32, Global>>("step"));
  return step * kLayerSlots + kernel.argument<Int32>("layer") + 1;
}

WaitBound wait_bound(const K1Key& key, const Uniform<Ptr<UInt8, Global>>& scratch) {
  return key.bounded ? WaitBound(scratch + kScratchHealth) : WaitBound();
}

template <class T>
LdsArray<T> lds(std::string_view name, int elements) {
  return LdsLayout().array<T>(name, static_cast<std::uint32_t>(elements));
}

/// What all mailboxes of the scratch share.
struct Post {
  BufferResource memory;
  Uniform<Int32> tag;
  WaitBound bound;

  Mailbox box(std::string_view region, std::int64_t offset) const { return {region, memory, offset, tag, bound}; }
};

}  // namespace

Context::Context(Kernel& kernel, const K1Key& k1_key)
    : Context(kernel, k1_key, kernel.argument<Ptr<UInt8, Global>>("scratch")) {}

Context::Context(Kernel& kernel, const K1Key& k1_key, const Uniform<Ptr<UInt8, Global>>& scratch_base)
    : key(k1_key),
      scratch(scratch_base),
      timeline(key.timeline ? kTimelinePoints : 0, kernel.argument<Ptr<Int64, Global>>("tl")) {
  const Post post{scratch, launch_tag(kernel), wait_bound(key, scratch_base)};
  qkv = post.box("qkv", kScratchQkv);
  x8_scale = post.box("x8_scale", kScratchX8Scale);
  heads_done = post.box("heads_done", kScratchHeadsDone);
  rows_done = post.box("rows_done", kScratchRowsDone);
  iscore = Mailbox("iscore", BufferResource(kernel.argument<Ptr<UInt8, Global>>("iscore")), 0, post.tag, post.bound);
  activation_max = kernel.target().chip == Chip::kGfx942 ? kOcpMax / 2 : kOcpMax;
  cache_max = kernel.target().fp8_max;
  bind(kernel);
  place_lds();
}

void Context::bind(const Kernel& kernel) {
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
  block_table = dwords("block_table");
  seq_lens = dwords("seq_lens");
  table_pitch = kernel.argument<Int32>("bt_width");
  q_len = key.signal ? kernel.argument<Int32>("q_len") : Uniform<Int32>(1);
}

void Context::place_lds() {
  LdsLayout().overlap(
      [&] {
        if (self_norm()) x8 = lds<UInt8>("x8", key.tokens * kActivationPitch);
      },
      [&] {
        if (key.scorer) index_q = lds<BFloat16>("index_q", key.tokens * key.index_heads * kIndexQueryPitch);
      });
  red = lds<Float32>("red", kRedWords);
}

void drain_stores(const Context& k) {
  if (k.key.flag_drain) wait_vmcnt(0);
  barrier();
}

}  // namespace monojit::kernels::minimax_m3
