#include "kernels/kimi_k3/k2/reference/rank_run.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "kernels/kimi_k3/k2/reference/residual.h"

namespace monojit::kernels::kimi_k3 {

using reference::bf16_bits;
using reference::BFloat16Activations;
using reference::BFloat16Bits;
using reference::MfmaColumn;

namespace {

constexpr std::uint32_t kFlag = 1;

}  // namespace

RankRun::RankRun(const K2Key& key, const RankMemory& before, reference::MatrixModel model, GroupResult& results,
                 int rank)
    : key_(key),
      before_(before),
      model_(model),
      results_(results),
      rank_(rank),
      tag_(tag_of(before)),
      half_(half_offset(before)),
      layout_(scratch_layout(key.tokens, key.nblocks)),
      peer_layout_(peer_layout(key.tokens)),
      tokens_(static_cast<std::size_t>(key.tokens)) {}

reference::WeightRows RankRun::weight(std::string_view name, std::int64_t row, std::int64_t pitch,
                                      std::int64_t first) const {
  return {of<const BFloat16Bits>(name).data() + row * pitch + first, pitch};
}

RankRun::Outputs RankRun::gemv(std::string_view name, int task, const GemvShape& shape,
                               const BFloat16Activations& rows) const {
  return gemv_rows(model_, weight(name, std::int64_t{kRowsPerTask} * task, shape.k, 0), rows, 0,
                   static_cast<std::size_t>(shape.chunks()));
}

Mail RankRun::scratch() const { return {std::span(result().scratch), tag_}; }

Mail RankRun::peer(int rank) const {
  return {std::span(results_[static_cast<std::size_t>(rank)].peer).subspan(half_), tag_};
}

void RankRun::push_rows(const Region& region, const Outputs& values, int task, std::int64_t row_words) const {
  for (int destination = 0; destination < kRanks; ++destination) {
    const Mail mail = peer(destination);
    for (std::size_t t = 0; t < tokens_; ++t) {
      const std::int64_t row = (std::int64_t{rank_} * key_.tokens + static_cast<std::int64_t>(t)) * row_words;
      for (int i = 0; i < kRowsPerTask; i += 2) {
        mail.put(region, row + (kRowsPerTask * task + i) / 2, bf16_bits(values[t][i]), bf16_bits(values[t][i + 1]));
      }
    }
  }
}

BFloat16Bits RankRun::reduced(const Region& region, std::int64_t words, std::size_t token, std::size_t column) const {
  const Mail mail = peer(rank_);
  std::array<float, kRanks> values{};
  for (int source = 0; source < kRanks; ++source) {
    const std::int64_t row = (std::int64_t{source} * key_.tokens + static_cast<std::int64_t>(token)) * words;
    values[static_cast<std::size_t>(source)] = mail.bf16_element(region, row, column);
  }
  return bf16_bits(rank_sum(values));
}

void RankRun::output_projection() {
  const BFloat16Activations core(of<const BFloat16Bits>("core"), tokens_);
  for (int task = 0; task < kOutputTasks; ++task) {
    push_rows(peer_layout_.ar, gemv("w_o", task, kOutputGemv, core), task, kHidden / 2);
  }
}

void RankRun::residual() {
  std::vector<BFloat16Bits> delta(tokens_ * kHidden);
  for (std::size_t t = 0; t < tokens_; ++t) {
    for (std::size_t i = 0; i < kHidden; ++i) delta[t * kHidden + i] = reduced(peer_layout_.ar, kHidden / 2, t, i);
  }
  const ResidualInputs inputs = {.delta = delta,
                                 .prefix = of<const BFloat16Bits>("prefix"),
                                 .blocks = of<const BFloat16Bits>("blocks"),
                                 .token_stride = of<const std::int32_t>("blk_sm")[0],
                                 .block_stride = of<const std::int32_t>("blk_sr")[0],
                                 .norm_weight = of<const BFloat16Bits>("ares_nw"),
                                 .score_weight = of<const BFloat16Bits>("ares_qk"),
                                 .in_weight = of<const BFloat16Bits>("in_nw")};
  ResidualResult mixed = mix_residual(key_, inputs);
  const Mail mail = scratch();
  const auto put_all = [&](const Region& region, std::span<const float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) mail.put(region, static_cast<std::int64_t>(i), values[i]);
  };
  put_all(layout_.part, mixed.part);
  put_all(layout_.wgt, mixed.wgt);
  put_all(layout_.msq, mixed.msq);
  std::ranges::copy(mixed.x, mail.row(layout_.xrow).begin());
  for (int slice = 0; slice < kSlices; ++slice) mail.put(layout_.xrdy, slice, kFlag);
  result().prefix = std::move(mixed.prefix);
}

void RankRun::early_gemvs() {
  const BFloat16Activations x(scratch().row(layout_.xrow), tokens_);
  shared_gate_up(x);
  router(x);
  latent(x);
}

void RankRun::shared_gate_up(const BFloat16Activations& x) {
  const Mail mail = scratch();
  for (int task = 0; task < kSharedGateUpTasks; ++task) {
    const Outputs values = gemv("w_sgu", task, kSharedGateUpGemv, x);
    for (int t = 0; t < key_.tokens; ++t) {
      for (int i = 0; i < kRowsPerTask; i += 2) {
        mail.put(layout_.sgu, layout_.sgu.at(t, (kRowsPerTask * task + i) / 2), bf16_bits(values[t][i]),
                 bf16_bits(values[t][i + 1]));
      }
    }
  }
}

void RankRun::router(const BFloat16Activations& x) {
  const Mail mail = scratch();
  const auto chunks = static_cast<std::size_t>(kRouterGemv.chunks());
  for (int task = 0; task < kRouterTasks; ++task) {
    Outputs logits;
    for (int part = 0; part < kRouterParts; ++part) {
      const std::int64_t row = std::int64_t{kRankExperts} * rank_ + std::int64_t{kRowsPerTask} * task;
      const Outputs values = gemv_rows(model_, weight("w_gate", row, kHidden, std::int64_t{kRouterGemv.k} * part), x,
                                       chunks * static_cast<std::size_t>(part), chunks);
      if (part == 0) logits = values;
      for (int t = 0; part > 0 && t < key_.tokens; ++t) {
        for (int i = 0; i < kRowsPerTask; ++i) {
          mail.put(layout_.rpart, layout_.rpart.at(task, part, t, i), values[t][i]);
          logits[t][i] = logits[t][i] + values[t][i];
        }
      }
    }
    for (int destination = 0; destination < kRanks; ++destination) {
      for (int t = 0; t < key_.tokens; ++t) {
        for (int i = 0; i < kRowsPerTask; ++i) {
          peer(destination)
              .put(peer_layout_.rlog, peer_layout_.rlog.at(rank_, t, kRowsPerTask * task + i), logits[t][i]);
        }
      }
    }
  }
}

void RankRun::latent(const BFloat16Activations& x) {
  const Mail mail = scratch();
  const auto chunks = static_cast<std::size_t>(kLatentGemv.chunks());
  for (int task = 0; task < kLatentTasks; ++task) {
    const std::int64_t row = std::int64_t{kRankLatent} * rank_ + std::int64_t{kRowsPerTask} * task;
    Outputs values = gemv_rows(model_, weight("w_ld", row, kHidden, 0), x, 0, chunks);
    const Outputs second = gemv_rows(model_, weight("w_ld", row, kHidden, kLatentGemv.k), x, chunks, chunks);
    for (int t = 0; t < key_.tokens; ++t) {
      for (int i = 0; i < kRowsPerTask; ++i) {
        mail.put(layout_.lpart, layout_.lpart.at(task, 1, t, i), second[t][i]);
        values[t][i] = values[t][i] + second[t][i];
      }
      for (int destination = 0; destination < kRanks; ++destination) {
        for (int i = 0; i < kRowsPerTask; i += 2) {
          peer(destination)
              .put(peer_layout_.lat, peer_layout_.lat.at(t, static_cast<int>(row + i) / 2), bf16_bits(values[t][i]),
                   bf16_bits(values[t][i + 1]));
        }
      }
    }
  }
}

void RankRun::routing() {
  const Mail mail = peer(rank_);
  const Region& rlog = peer_layout_.rlog;
  for (int t = 0; t < key_.tokens; ++t) {
    std::array<float, kExperts> logits{};
    for (int e = 0; e < kExperts; ++e) {
      logits[static_cast<std::size_t>(e)] = mail.float_value(rlog, rlog.at(e / kRankExperts, t, e % kRankExperts));
    }
    routes_.push_back(route(logits, of<const float>("bias")));
    const Routing& picks = routes_.back();
    for (int k = 0; k < kTopExperts; ++k) {
      const auto index = static_cast<std::size_t>(k);
      scratch().put(layout_.route, layout_.route.at(t, k), static_cast<std::uint32_t>(picks.expert[index]));
      scratch().put(layout_.route, layout_.route.at(t, kTopExperts + k), picks.weight[index]);
    }
  }
}

}  // namespace monojit::kernels::kimi_k3
