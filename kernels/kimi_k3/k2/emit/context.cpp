#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kPairBytes = 8;
constexpr std::int32_t kEpochMask = 0x3FFFFF;
constexpr std::int32_t kSlots = 256;

template <class T>
LdsArray<T> lds_array(const Region& region) {
  return ir::LdsLayout().array<T>(region.name, static_cast<std::uint32_t>(region.count()));
}

}  // namespace

Context::Context(Kernel& kernel, const K2Key& k2_key)
    : key(k2_key), scratch_map(scratch_layout(key.tokens, key.nblocks)), peer_map(peer_layout(key.tokens)) {
  workgroup = workgroup_id();
  rank = kernel.argument<Int32>("rank");
  epoch = load(kernel.argument<Ptr<Int32, Global>>("epoch"));
  layer = kernel.argument<Int32>("layer");
  tag_ = (epoch & kEpochMask) * kSlots + layer + 1;
  bind(kernel);

  const auto bases = kernel.argument<Ptr<Int64, Global>>("peers");
  const Uniform<Int64> half = convert<Int64>((epoch & 1) * static_cast<std::int32_t>(kPeerHalf));
  for (int peer = 0; peer < kRanks; ++peer) {
    peers_[static_cast<std::size_t>(peer)] = pointer_from_address<UInt8>(load(bases + peer) + half);
  }
  own_peer_ = BufferResource(pointer_from_address<UInt8>(load(bases + rank) + half));
  scratch_ = BufferResource(kernel.argument<Ptr<UInt8, Global>>("scratch"));
  bound_ = WaitBound(kernel.argument<Ptr<UInt8, Global>>("health"), kernel.argument<Ptr<Int32, Global>>("alarm"));
  place_lds();
  timeline = Timeline(key.timeline ? kTimelinePoints : 0, kernel.argument<Ptr<Int64, Global>>("tl"));
}

void Context::bind(const Kernel& kernel) {
  const auto bf16 = [&](std::string_view name) { return kernel.argument<Ptr<BFloat16, Global>>(name); };
  const auto dwords = [&](std::string_view name) { return kernel.argument<Ptr<Int32, Global>>(name); };
  core = bf16("core");
  w_o = bf16("w_o");
  prefix = bf16("prefix");
  blocks = bf16("blocks");
  ares_nw = bf16("ares_nw");
  ares_qk = bf16("ares_qk");
  in_nw = bf16("in_nw");
  w_gate = bf16("w_gate");
  w_ld = bf16("w_ld");
  w_sgu = bf16("w_sgu");
  w_sd = bf16("w_sd");
  ln_w = bf16("ln_w");
  w_up = bf16("w_up");
  out = bf16("out");
  bias = kernel.argument<Ptr<Float32, Global>>("bias");
  w13 = dwords("w13");
  w13s = dwords("w13s");
  w2 = dwords("w2");
  w2s = dwords("w2s");
  blk_sm = kernel.argument<Int32>("blk_sm");
  blk_sr = kernel.argument<Int32>("blk_sr");
}

void Context::place_lds() {
  const kimi_k3::LdsLayout map = lds_layout(key.tokens, key.nblocks);
  lds.red = lds_array<Float32>(map.red);
  lds.route = lds_array<Int32>(map.route);
  lds.flag = lds_array<Int32>(map.flag);
  lds.expert = lds_array<Int32>(map.expert);
  lds.kof = lds_array<Int32>(map.kof);
  lds.scan = lds_array<Int32>(map.scan);
  ir::LdsLayout().overlap([&] { lds.rows = lds_array<BFloat16>(map.rows); },
                          [&] {
                            lds.vals = lds_array<Float32>(map.vals);
                            lds.delta = lds_array<Float32>(map.delta);
                          },
                          [&] {
                            lds.latent_words = lds_array<Int32>(map.latent_words);
                            lds.latent_scales = lds_array<Int32>(map.latent_scales);
                            lds.values = lds_array<Float32>(map.values);
                          },
                          [&] {
                            lds.inter_words = lds_array<Int32>(map.inter_words);
                            lds.inter_scales = lds_array<Int32>(map.inter_scales);
                            lds.contributions = lds_array<Float32>(map.contributions);
                          });
}

Mailbox Context::box(const Region& region) const {
  return {region.name, scratch_, region.offset, tag_, bound_, CachePolicy::kDevice};
}

Mailbox Context::peer_box(const Region& region) const {
  return {region.name, own_peer_, region.offset, tag_, bound_, CachePolicy::kSystem};
}

void Context::push(const Region& region, const Int32& pair, const Int32& word) const {
  const Int32 byte = pair * kPairBytes + static_cast<std::int32_t>(region.offset);
  const Int64 content = bitcast<Int64>(vec(word, Int32(tag_)));
  for (const auto& peer : peers_) atomic_store(pointer_cast<Int64>(at_byte(peer, byte)), content, Scope::kSystem);
}

void Context::publish(const Region& region, const Int32& index) const {
  wait_vmcnt(0);
  barrier();
  If(thread_id() == 0, [&] { box(region).put(index, 1); });
}

Int32 word_of(const Vec<Float32, 2>& values) { return bitcast<Int32>(round_bf16(values)); }

Vec<Float32, 2> values_of(const Int32& word) { return extend<float>(bitcast<Vec<BFloat16, 2>>(word)); }

}  // namespace monojit::kernels::kimi_k3
