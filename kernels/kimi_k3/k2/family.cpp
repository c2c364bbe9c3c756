#include <fmt/format.h>

#include "kernels/kimi_k3/k2/arguments.h"
#include "kernels/kimi_k3/k2/generator_digest.h"
#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/roles.h"
#include "kernels/kimi_k3/k2/timeline.h"
#include "kernels/kimi_k3/k2/waits.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr auto kFields = plain_fields(kK2Fields);

constexpr std::string_view kStages[] = {
    "output_projection", "residual_slice",  "residual_mix",   "early_gemv",     "route",
    "shared_activation", "latent_quantise", "routing_tables", "expert_gate_up", "expert_down",
    "shared_down",       "latent_norm",     "latent_up",      "final_reduce"};

Launch launch(const BuildKey& /*key*/) {
  return {.workgroups = kWorkgroups, .workgroup_size = kThreads, .persistent = true, .min_waves_per_eu = 2};
}

void check(const BuildKey& key, std::string_view arch, std::vector<std::string>& reasons) {
  if (arch != "gfx950") reasons.emplace_back("arch must be gfx950: the kernel uses scaled FP4 matrix instructions");
  const K2Key k2 = k2_key(key);
  if (k2.fault_rank < 0 && (k2.fault_epoch != 0 || k2.fault_layer != 0 || k2.fault_ticks != 0)) {
    reasons.emplace_back("fault_epoch, fault_layer and fault_ticks mean nothing without fault_rank");
  }
}

std::optional<HealthWords> health(const BuildKey& /*key*/) {
  return HealthWords{.argument = "health",
                     .offset = 0,
                     .regions = kWaitRegions,
                     .describe = describe_wait,
                     .source = wait_source,
                     .layer_of_tag = slot_of_tag,
                     .launch_of_tag = launch_of_tag,
                     .place_of_tag = place_of_tag,
                     .place_bits = kTagBits};
}

PeerState peer_state(const BuildKey& /*key*/) {
  return {.ranks = kRanks,
          .scratch_bytes = kScratchBytes,
          .health_bytes = health_bytes(kWorkgroups),
          .peer_bytes = kPeerBytes,
          .peer_head = kPeerHead};
}

std::vector<MemoryMap> layout(const BuildKey& key) {
  const K2Key k2 = k2_key(key);
  const ScratchLayout s = scratch_layout(k2.tokens, k2.nblocks);
  const PeerLayout p = peer_layout(k2.tokens);
  const LdsLayout l = lds_layout(k2.tokens, k2.nblocks);
  return {
      {"scratch",
       fmt::format("a rank's own; {} of them allocated, for every kernel of the model", kScratchBytes),
       s.bytes(),
       {s.part, s.wgt, s.msq, s.xrdy, s.sgu, s.h, s.rpart, s.lpart, s.route, s.inter, s.isc, s.lmsq, s.lnrdy, s.shrdy,
        s.ln, s.shp, s.xrow}},
      {"peer half",
       fmt::format("of epoch parity p at byte {} + {} p of a rank's buffer of {} bytes", kPeerHead, kPeerHalf,
                   kPeerBytes),
       p.bytes(),
       {p.ar, p.rlog, p.lat, p.latr, p.final_}},
      {"LDS",
       "a workgroup's; regions that overlap belong to different stages",
       l.bytes +
           (k2.timeline ? std::int64_t{kTimelinePoints + 1} * 8 : 0),  // the stamps and their row's address are last
       {l.red, l.route, l.flag, l.expert, l.kof, l.scan, l.rows, l.vals, l.delta, l.latent_words, l.latent_scales,
        l.values, l.inter_words, l.inter_scales, l.contributions}},
  };
}

}  // namespace

const Family kK2 = {
    .name = "kimi_k3.k2",
    .summary =
        "Kimi-K3, back half of a layer on eight ranks: output projection, AttnRes, router, latent MoE, shared "
        "expert, and the sums over the ranks",
    .symbol_stem = "kimi_k3_k2",
    .generator_digest = kernels_kimi_k3_k2::kGeneratorDigest,
    .fields = kFields,
    .arguments = kK2Arguments,
    .launch = launch,
    .check = check,
    .health = health,
    .timeline = k2_timeline,
    .layout = layout,
    .stages = kStages,
    .peer_state = peer_state,
};

}  // namespace monojit::kernels::kimi_k3
