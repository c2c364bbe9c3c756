#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "kernels/common/health.h"
#include "kernels/common/region.h"
#include "kernels/kimi_k3/model.h"

/// Memory of K2: scratch of a rank, peer buffer, LDS (specification §4, §6). Kernel and host compute the same offsets
/// from these tables; `monojit dump --emit=layout` prints them.
namespace monojit::kernels::kimi_k3 {

inline constexpr int kRowsPerTask = 16;  ///< of a weight, in every GEMV
inline constexpr int kSlices = 56;       ///< of 128 columns of the hidden row: AllReduce and AttnRes workgroups
inline constexpr int kSliceColumns = kHidden / kSlices;
inline constexpr int kLatentSlices = 28;                          ///< of 128 columns of the latent row
inline constexpr int kRouterTasks = kRankExperts / kRowsPerTask;  // 7
inline constexpr int kRouterParts = 4;                            ///< K parts of a router row
inline constexpr int kLatentTasks = kRankLatent / kRowsPerTask;   // 28
inline constexpr int kLatentParts = 2;
inline constexpr int kUpTasks = kRankColumns / kRowsPerTask;  // 56

/// Hand-offs inside a rank. All launches of the model share the memory; tags keep them apart. The last three regions
/// are plain rows, each behind a flag pair.
struct ScratchLayout {
  Region part, wgt, msq, xrdy, sgu, h, rpart, lpart, route, inter, isc, lmsq, lnrdy, shrdy, ln, shp, xrow;

  constexpr std::int64_t bytes() const { return xrow.end(); }
};

constexpr ScratchLayout scratch_layout(int tokens, int nblocks) {
  const int sources = nblocks + 1;
  const int picks = tokens * kTopExperts;
  const Axis token{"token", tokens};
  Placer at;
  ScratchLayout s;
  s.part = at.place("part", Content::kFloat32Pair, {{"slice", kSlices}, token, {"source", sources}, {"which", 2}},
                    "sum of squares (which 0) or score (which 1) of a slice of an AttnRes source");
  s.wgt = at.place("wgt", Content::kFloat32Pair, {token, {"source", sources + 1}},
                   "softmax numerator of an AttnRes source, or behind the last one the denominator");
  s.msq = at.place("msq", Content::kFloat32Pair, {{"slice", kSlices}, token}, "sum of squares of a mixed slice");
  s.xrdy = at.place("xrdy", Content::kWordPair, {{"slice", kSlices}}, "flag of a slice of all rows of xrow");
  at.align(16);
  s.sgu = at.place("sgu", Content::kBFloat16Pair, {token, {"word", kSharedIntermediate}},
                   "shared expert's gate (the first 384 words) or up (384 more)");
  s.h = at.place("h", Content::kBFloat16Pair, {token, {"word", kSharedIntermediate / 2}},
                 "activated values of the shared expert");
  s.rpart = at.place("rpart", Content::kFloat32Pair,
                     {{"task", kRouterTasks}, {"part", kRouterParts}, token, {"row", kRowsPerTask}},
                     "K part (of 1 to 3, 0 is unused) of a router logit");
  s.lpart = at.place("lpart", Content::kFloat32Pair,
                     {{"task", kLatentTasks}, {"part", kLatentParts}, token, {"row", kRowsPerTask}},
                     "K part (1, 0 is unused) of a latent column");
  s.route = at.place("route", Content::kWordPair, {token, {"word", 2 * kTopExperts}},
                     "expert id (the first 16 words) or weight (f32 bits, 16 more) of a pick");
  s.inter = at.place("inter", Content::kWordPair, {{"pick", picks}, {"word", kIntermediate / kFp4WordValues}},
                     "FP4 intermediates, 8 a word, of pick 16 token + k");
  s.isc = at.place("isc", Content::kWordPair, {{"pick", picks}, {"block", kIntermediateBlocks}},
                   "E8M0 code of a block of intermediates");
  s.lmsq = at.place("lmsq", Content::kFloat32Pair, {{"slice", kLatentSlices}, token},
                    "sum of squares of a slice of the reduced latent");
  s.lnrdy = at.place("lnrdy", Content::kWordPair, {{"slice", kLatentSlices}}, "flag of a slice of all rows of ln");
  s.shrdy = at.place("shrdy", Content::kWordPair, {{"task", kUpTasks}}, "flag of 16 columns of all rows of shp");
  at.align(16);
  s.ln = at.place("ln", Content::kBFloat16, {token, {"column", kLatent}}, "normed latent");
  at.align(16);
  s.shp = at.place("shp", Content::kBFloat16, {token, {"column", kRankColumns}},
                   "shared expert's part of this rank's own output columns");
  at.align(16);
  s.xrow =
      at.place("xrow", Content::kBFloat16, {token, {"column", kHidden}}, "input of router, latent and shared expert");
  return s;
}
static_assert(scratch_layout(kMaxTokens, kMaxBlocks).bytes() == 481248);
static_assert(scratch_layout(kMaxTokens, kMaxBlocks).bytes() <= kScratchBytes);

/// One half of a peer buffer; what rank `source` pushed, or all ranks together. A push goes to all eight buffers.
struct PeerLayout {
  Region ar, rlog, lat, latr, final_;

  constexpr std::int64_t bytes() const { return final_.end(); }
};

constexpr PeerLayout peer_layout(int tokens) {
  const Axis source{"source", kRanks};
  const Axis token{"token", tokens};
  Placer at;
  PeerLayout p;
  p.ar = at.place("ar", Content::kBFloat16Pair, {source, token, {"word", kHidden / 2}},
                  "partials of the output projection");
  p.rlog = at.place("rlog", Content::kFloat32Pair, {source, token, {"expert", kRankExperts}},
                    "router logit of an expert of the source");
  p.lat = at.place("lat", Content::kBFloat16Pair, {token, {"word", kLatent / 2}},
                   "latent row, of which rank r pushes words 224 r to 224 r + 223");
  p.latr = at.place("latr", Content::kBFloat16Pair, {source, token, {"word", kLatent / 2}},
                    "routed experts' partials of the latent output");
  p.final_ =
      at.place("final", Content::kBFloat16Pair, {source, token, {"word", kHidden / 2}}, "partials of the output");
  return p;
}

/// Peer buffer: the head (alarm flags, on rank 0), then a half for even and one for odd epochs. Every build's half has
/// the size of the largest build's, so that steps of different widths never overlap.
inline constexpr std::int64_t kPeerHead = 256;
inline constexpr std::int64_t kPeerHalf = peer_layout(kMaxTokens).bytes();
inline constexpr std::int64_t kPeerBytes = kPeerHead + 2 * kPeerHalf;
static_assert(kPeerHalf == std::int64_t{594944} * kMaxTokens);
static_assert(kPeerBytes == 9519360);

/// LDS: `red` and the routing tables are alive all the time, the others share memory stage by stage.
struct LdsLayout {
  Region red, route, flag, expert, kof, scan;       // alive
  Region rows;                                      // GEMV stages
  Region vals, delta;                               // AttnRes
  Region latent_words, latent_scales, values;       // gate and up
  Region inter_words, inter_scales, contributions;  // down
  std::int64_t bytes = 0;
};

inline constexpr int kWaves = 8;
inline constexpr int kWaveLanes = 64;
inline constexpr int kThreads = kWaves * kWaveLanes;
inline constexpr int kRowPad = 8;  ///< elements between activation rows in LDS
inline constexpr std::int64_t kMaxLds = 163840;

constexpr LdsLayout lds_layout(int tokens, int nblocks) {
  const int picks = tokens * kTopExperts;
  const Axis token{"token", tokens};
  Placer at;
  LdsLayout l;
  l.red = at.place("red", Content::kFloat32, {{"wave", kWaves}, {"lane", kWaveLanes}, {"item", 4}},
                   "accumulators of the waves; also small sums");
  l.route = at.place("route", Content::kInt32, {token, {"word", 2 * kTopExperts}}, "ids and weights");
  l.flag = at.place("flag", Content::kInt32, {{"expert", kExperts}}, "whether picked, then its slot");
  l.expert = at.place("expert", Content::kInt32, {{"slot", kMaxUnion}}, "expert of a slot, rising");
  l.kof =
      at.place("kof", Content::kInt32, {{"slot", kMaxUnion}, {"token", kMaxTokens}}, "which pick of the token, or -1");
  l.scan = at.place("scan", Content::kInt32, {{"wave", kWaves}}, "sums of the scan over threads");
  at.align(16);
  const std::int64_t shared = at.end();
  l.rows = at.place("rows", Content::kBFloat16, {token, {"column", kHidden + kRowPad}},
                    "activation rows; shorter rows have a smaller pitch, their length + 8");
  l.bytes = at.end();
  at.go_to(shared);
  l.vals = at.place("vals", Content::kFloat32, {token, {"source", nblocks + 1}, {"column", kSliceColumns}},
                    "AttnRes sources of a slice");
  l.delta = at.place("delta", Content::kFloat32, {token, {"column", kSliceColumns}}, "reduced attention output");
  l.bytes = std::max(l.bytes, at.end());
  at.go_to(shared);
  l.latent_words = at.place("latent_words", Content::kInt32, {token, {"word", kLatent / kFp4WordValues}}, "FP4 latent");
  l.latent_scales = at.place("latent_scales", Content::kInt32, {token, {"block", kLatentBlocks}}, "its E8M0 codes");
  l.values = at.place("values", Content::kFloat32, {{"thread", kThreads}}, "values between lanes");
  l.bytes = std::max(l.bytes, at.end());
  at.go_to(shared);
  l.inter_words = at.place("inter_words", Content::kInt32, {{"pick", picks}, {"word", kIntermediate / kFp4WordValues}},
                           "FP4 intermediates");
  l.inter_scales =
      at.place("inter_scales", Content::kInt32, {{"pick", picks}, {"block", kIntermediateBlocks}}, "their E8M0 codes");
  l.contributions = at.place("contributions", Content::kFloat32, {{"pick", picks}, {"row", kRowsPerTask}},
                             "weighted results of the picks");
  l.bytes = std::max(l.bytes, at.end());
  return l;
}
static_assert(lds_layout(1, kMaxBlocks).bytes == 30896);
static_assert(lds_layout(kMaxTokens, kMaxBlocks).bytes == 132256);
static_assert(lds_layout(kMaxTokens, kMaxBlocks).bytes <= kMaxLds);

/// What a wait can be for, as health records name it, in the order of the data.
inline constexpr std::string_view kWaitRegions[] = {"ar",    "part", "wgt",   "msq",   "xrdy",  "sgu",   "h",
                                                    "rpart", "rlog", "lpart", "lat",   "route", "inter", "isc",
                                                    "shrdy", "latr", "lmsq",  "lnrdy", "final"};

}  // namespace monojit::kernels::kimi_k3
