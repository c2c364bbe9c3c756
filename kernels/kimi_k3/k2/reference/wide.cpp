#include "kernels/kimi_k3/k2/reference/wide.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include "kernels/common/reference/wide_dot.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/experts.h"
#include "kernels/kimi_k3/k2/reference/mail.h"
#include "kernels/kimi_k3/k2/reference/wide_experts.h"
#include "kernels/kimi_k3/k2/reference/wide_residual.h"
#include "kernels/kimi_k3/k2/roles.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_bits;
using reference::bf16_value;
using reference::BFloat16Bits;
using reference::BoundTracker;
using reference::kF32Unit;
using reference::round_bf16;

constexpr int kMfmasPerChunk = kChunk / reference::kMfmaK;
/// Sums of a GEMV on 8 waves, each with a chain of its chunks, and `parts` of them.
constexpr double gemv_bound(const GemvShape& shape, int parts) {
  return reference::matrix_bound(shape.rounds() * kMfmasPerChunk, reference::kMfmaK, kWaves + parts);
}

float to_bf16(double value) { return round_bf16(static_cast<float>(value)); }

/// One rank's launch, read back.
class RankCheck {
 public:
  RankCheck(const K2Key& key, const RankMemory& memory, std::span<const BFloat16Bits> prefix_before,
            const RankResult& after, int rank, WideCheck& check)
      : key_(key),
        memory_(memory),
        prefix_before_(prefix_before),
        after_(after),
        rank_(rank),
        check_(check),
        scratch_(writable(after.scratch), 0),
        peer_(writable(after.peer).subspan(half_offset(memory)), 0),
        layout_(scratch_layout(key.tokens, key.nblocks)),
        peers_(peer_layout(key.tokens)) {}

  void run() {
    for (int token = 0; token < key_.tokens; ++token) {
      output_projection(token);
      prefix(token);
      x(token);
      early_gemvs(token);
      shared(token);
      routing(token);
      experts(token);
      latent_norm(token);
      final_parts(token);
      if (key_.reduce) out(token);
    }
  }

 private:
  /// Mail reads and writes; here it only reads.
  static std::span<std::byte> writable(const std::vector<std::byte>& bytes) {
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
  }
  template <class T>
  std::span<const T> of(std::string_view name) const {
    return memory_.of<const T>(name);
  }

  /// A row of bf16 pairs that begins at `first`.
  std::vector<BFloat16Bits> row(const Mail& mail, const Region& region, std::int64_t first, std::size_t columns) const {
    std::vector<BFloat16Bits> values;
    for (std::size_t i = 0; i < columns; ++i) values.push_back(bf16_bits(mail.bf16_element(region, first, i)));
    return values;
  }
  std::span<const BFloat16Bits> plain_row(const Region& region, int token) const {
    return scratch_.row(region).subspan(static_cast<std::size_t>(region.at(token, 0)),
                                        static_cast<std::size_t>(region.axes[1].extent));
  }

  struct Sum {
    double value = 0;
    double magnitude = 0;
  };
  Sum ranks_sum(const Region& region, int token, std::size_t column) const {
    Sum sum;
    for (int source = 0; source < kRanks; ++source) {
      const auto value = static_cast<double>(peer_.bf16_element(region, region.at(source, token, 0), column));
      sum.value += value;
      sum.magnitude += std::fabs(value);
    }
    return sum;
  }

  /// `rows` rows of a weight from `first_row` against bf16 results.
  template <class Result>
  void gemv(std::string_view name, std::int64_t first_row, int rows, std::span<const BFloat16Bits> activations,
            double bound, BoundTracker& tracker, Result result) const {
    const auto weight = of<BFloat16Bits>(name);
    for (int n = 0; n < rows; ++n) {
      const std::size_t first = static_cast<std::size_t>(first_row + n) * activations.size();
      const reference::WideDot dot = reference::wide_dot(&weight[first], activations.data(), activations.size());
      tracker.add_rounded(result(n), dot.sum, dot.magnitude * bound, round_bf16, dot.magnitude);
    }
  }

  void output_projection(int token) {
    const auto core = of<BFloat16Bits>("core").subspan(static_cast<std::size_t>(token) * kCoreWidth, kCoreWidth);
    gemv("w_o", 0, kHidden, core, gemv_bound(kOutputGemv, 0), check_.ar, [&](int n) {
      return peer_.bf16_element(peers_.ar, peers_.ar.at(rank_, token, 0), static_cast<std::size_t>(n));
    });
  }

  void prefix(int token) {
    for (std::size_t i = 0; i < kHidden; ++i) {
      const Sum delta = ranks_sum(peers_.ar, token, i);
      const double slack = kRanks * kF32Unit * delta.magnitude;
      const std::size_t index = static_cast<std::size_t>(token) * kHidden + i;
      const double old = key_.reset ? 0 : static_cast<double>(bf16_value(prefix_before_[index]));
      check_.prefix.add(bf16_value(after_.prefix[index]), old + delta.value,
                        to_bf16(old + to_bf16(delta.value - slack)), to_bf16(old + to_bf16(delta.value + slack)),
                        delta.magnitude);
    }
  }

  void x(int token) {
    const ResidualInputs inputs = {.delta = {},
                                   .prefix = after_.prefix,
                                   .blocks = of<BFloat16Bits>("blocks"),
                                   .token_stride = of<std::int32_t>("blk_sm")[0],
                                   .block_stride = of<std::int32_t>("blk_sr")[0],
                                   .norm_weight = of<BFloat16Bits>("ares_nw"),
                                   .score_weight = of<BFloat16Bits>("ares_qk"),
                                   .in_weight = of<BFloat16Bits>("in_nw")};
    const std::vector<WideValue> wide = wide_x(key_, inputs, static_cast<std::size_t>(token));
    const auto values = plain_row(layout_.xrow, token);
    for (std::size_t i = 0; i < kHidden; ++i) {
      check_.xrow.add_rounded(bf16_value(values[i]), wide[i].value, wide[i].slack, round_bf16);
    }
  }

  void early_gemvs(int token) {
    const auto x = plain_row(layout_.xrow, token);
    gemv("w_sgu", 0, 2 * kSharedIntermediate, x, gemv_bound(kSharedGateUpGemv, 0), check_.sgu, [&](int n) {
      return scratch_.bf16_element(layout_.sgu, layout_.sgu.at(token, 0), static_cast<std::size_t>(n));
    });
    const int first = kRankLatent * rank_;
    gemv("w_ld", first, kRankLatent, x, gemv_bound(kLatentGemv, kLatentParts), check_.lat, [&](int n) {
      return peer_.bf16_element(peers_.lat, peers_.lat.at(token, 0), static_cast<std::size_t>(first + n));
    });
    const auto gate = of<BFloat16Bits>("w_gate");
    for (int n = 0; n < kRankExperts; ++n) {
      const std::size_t row = static_cast<std::size_t>(kRankExperts * rank_ + n) * kHidden;
      const reference::WideDot dot = reference::wide_dot(&gate[row], x.data(), kHidden);
      check_.rlog.add_rounded(peer_.float_value(peers_.rlog, peers_.rlog.at(rank_, token, n)), dot.sum,
                              dot.magnitude * gemv_bound(kRouterGemv, kRouterParts), std::identity{}, dot.magnitude);
    }
  }

  void shared(int token) {
    const std::int64_t sgu = layout_.sgu.at(token, 0);
    for (std::size_t i = 0; i < kSharedIntermediate; ++i) {
      const WideValue wide = wide_shared_activation(scratch_.bf16_element(layout_.sgu, sgu, i),
                                                    scratch_.bf16_element(layout_.sgu, sgu, kSharedIntermediate + i));
      check_.h.add_rounded(scratch_.bf16_element(layout_.h, layout_.h.at(token, 0), i), wide.value, wide.slack,
                           round_bf16);
    }
    const std::vector<BFloat16Bits> h = row(scratch_, layout_.h, layout_.h.at(token, 0), kSharedIntermediate);
    const auto shp = plain_row(layout_.shp, token);
    const std::int64_t own = std::int64_t{kRankColumns} * rank_;
    gemv("w_sd", own, kRankColumns, h, gemv_bound(kSharedDownGemv, 0), check_.shp,
         [&](int n) { return bf16_value(shp[static_cast<std::size_t>(n)]); });
    const auto others = [&](std::int64_t first, std::int64_t end) {
      gemv("w_sd", first, static_cast<int>(end - first), h, gemv_bound(kSharedDownGemv, 0), check_.final_, [&](int n) {
        return peer_.bf16_element(peers_.final_, peers_.final_.at(rank_, token, 0),
                                  static_cast<std::size_t>(first + n));
      });
    };
    others(0, own);
    others(own + kRankColumns, kHidden);
  }

  void routing(int token) {
    // Of sigmoids: an exponential, whose argument's rounding grows with its size, a sum, a reciprocal.
    constexpr double kSigmoidRoundings = 8;
    constexpr double kSumRoundings = kTopExperts + 4;
    double total = 0;
    std::array<double, kTopExperts> sigmoid{};
    double relative = 0;
    for (int k = 0; k < kTopExperts; ++k) {
      const int expert = pick(token, k);
      const auto logit = static_cast<double>(
          peer_.float_value(peers_.rlog, peers_.rlog.at(expert / kRankExperts, token, expert % kRankExperts)));
      sigmoid[static_cast<std::size_t>(k)] = 1 / (1 + std::exp(-logit));
      total += sigmoid[static_cast<std::size_t>(k)];
      relative = std::max(relative, kF32Unit * (kSigmoidRoundings + 2 * std::fabs(logit)));
    }
    for (int k = 0; k < kTopExperts; ++k) {
      const double weight = sigmoid[static_cast<std::size_t>(k)] / total;
      check_.route.add_rounded(pick_weight(token, k), weight, weight * (2 * relative + kF32Unit * kSumRoundings),
                               std::identity{});
    }
  }

  int pick(int token, int k) const {
    return static_cast<int>(
        std::min<std::uint32_t>(scratch_.value(layout_.route, layout_.route.at(token, k)), kExperts - 1));
  }
  float pick_weight(int token, int k) const {
    return scratch_.float_value(layout_.route, layout_.route.at(token, kTopExperts + k));
  }

  MxRow intermediate(int token, int k) const {
    const int number = kTopExperts * token + k;
    MxRow result;
    for (int word = 0; word < layout_.inter.axes[1].extent; ++word) {
      result.words.push_back(scratch_.value(layout_.inter, layout_.inter.at(number, word)));
    }
    for (int block = 0; block < kIntermediateBlocks; ++block) {
      result.codes.push_back(static_cast<std::uint8_t>(scratch_.value(layout_.isc, layout_.isc.at(number, block))));
    }
    return result;
  }

  /// The stored FP4 values against the wide ones, by the stored scales; a value between two may become either.
  void check_intermediate(const MxRow& stored, std::span<const WideValue> wide) {
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const unsigned code = stored.codes[i / kMxBlock];
      const auto quantised = [&](double value) {
        return reference::fp4_value(reference::fp4_scaled_code(static_cast<float>(value), code)) *
               reference::e8m0_value(code);
      };
      check_.inter.add(stored.value(i), wide[i].value, quantised(wide[i].value - wide[i].slack),
                       quantised(wide[i].value + wide[i].slack));
    }
  }

  void experts(int token) {
    const ExpertWeights weights = {of<std::uint8_t>("w13"), of<std::uint8_t>("w13s"), of<std::uint8_t>("w2"),
                                   of<std::uint8_t>("w2s")};
    const auto latent = quantise_latent(row(peer_, peers_.lat, peers_.lat.at(token, 0), kLatent)).blocks();
    struct Ends {
      double value = 0;
      float low = 0;
      float high = 0;
    };
    std::vector<Ends> fold(kLatent);
    for (int k = 0; k < kTopExperts; ++k) {
      const MxRow stored = intermediate(token, k);
      check_intermediate(stored, wide_intermediate(weights, pick(token, k), latent));
      const float weight = pick_weight(token, k);
      const std::vector<WideValue> y = wide_down(weights, pick(token, k), stored.blocks());
      for (std::size_t i = 0; i < fold.size(); ++i) {
        // Every step is monotone, so that the ends of an interval stay ends.
        const auto contribution = [&](double value) { return round_bf16(static_cast<float>(value) * weight); };
        fold[i].value += y[i].value * static_cast<double>(weight);
        fold[i].low = round_bf16(fold[i].low + contribution(y[i].value - y[i].slack));
        fold[i].high = round_bf16(fold[i].high + contribution(y[i].value + y[i].slack));
      }
    }
    for (std::size_t i = 0; i < fold.size(); ++i) {
      check_.latr.add(peer_.bf16_element(peers_.latr, peers_.latr.at(rank_, token, 0), i), fold[i].value, fold[i].low,
                      fold[i].high);
    }
  }

  void latent_norm(int token) {
    std::vector<WideValue> reduced;
    for (std::size_t i = 0; i < kLatent; ++i) {
      const Sum sum = ranks_sum(peers_.latr, token, i);
      const double slack = kRanks * kF32Unit * sum.magnitude;
      const double low = to_bf16(sum.value - slack);
      const double high = to_bf16(sum.value + slack);
      reduced.push_back({0.5 * (low + high), 0.5 * (high - low)});
    }
    const std::vector<WideValue> wide = wide_norm(reduced, of<BFloat16Bits>("ln_w"), static_cast<double>(key_.ln_eps));
    const auto ln = plain_row(layout_.ln, token);
    for (std::size_t i = 0; i < kLatent; ++i) {
      check_.ln.add_rounded(bf16_value(ln[i]), wide[i].value, wide[i].slack, round_bf16);
    }
  }

  void final_parts(int token) {
    const auto ln = plain_row(layout_.ln, token);
    const auto shp = plain_row(layout_.shp, token);
    const auto weight = of<BFloat16Bits>("w_up");
    for (std::size_t n = 0; n < kRankColumns; ++n) {
      const reference::WideDot dot = reference::wide_dot(&weight[n * kLatent], ln.data(), kLatent);
      const auto shared = static_cast<double>(bf16_value(shp[n]));
      const double wide = shared + dot.sum;
      const double slack = dot.magnitude * gemv_bound(kUpGemv, 0) + kF32Unit * (std::fabs(shared) + dot.magnitude);
      check_.final_.add_rounded(peer_.bf16_element(peers_.final_, peers_.final_.at(rank_, token, 0),
                                                   static_cast<std::size_t>(kRankColumns * rank_) + n),
                                wide, slack, round_bf16, std::fabs(shared) + dot.magnitude);
    }
  }

  void out(int token) {
    for (std::size_t i = 0; i < kHidden; ++i) {
      const Sum sum = ranks_sum(peers_.final_, token, i);
      check_.out.add_rounded(bf16_value(after_.out[static_cast<std::size_t>(token) * kHidden + i]), sum.value,
                             kRanks * kF32Unit * sum.magnitude, round_bf16, sum.magnitude);
    }
  }

  const K2Key& key_;
  const RankMemory& memory_;
  std::span<const BFloat16Bits> prefix_before_;
  const RankResult& after_;
  int rank_;
  WideCheck& check_;
  Mail scratch_;
  Mail peer_;
  ScratchLayout layout_;
  PeerLayout peers_;
};

}  // namespace

WideCheck check_wide(const K2Key& key, const GroupMemory& memory,
                     std::span<const std::vector<BFloat16Bits>> prefix_before, const GroupResult& after) {
  WideCheck check;
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    RankCheck(key, memory[index], prefix_before[index], after[index], rank, check).run();
  }
  return check;
}

}  // namespace monojit::kernels::kimi_k3
