// The phases of a rank behind the router's input: experts, shared expert, latent norm, up, the sum over the ranks.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "kernels/common/reference/float32.h"
#include "kernels/kimi_k3/k2/reference/activation.h"
#include "kernels/kimi_k3/k2/reference/rank_run.h"

namespace monojit::kernels::kimi_k3 {

using reference::bf16_bits;
using reference::bf16_value;
using reference::BFloat16Activations;
using reference::BFloat16Bits;

namespace {

constexpr float kInverseLatent = std::bit_cast<float>(0x39924925U);
constexpr std::uint32_t kFlag = 1;

}  // namespace

void RankRun::shared_expert() {
  const Mail mail = scratch();
  for (int t = 0; t < key_.tokens; ++t) {
    std::vector<BFloat16Bits> h(kSharedIntermediate);
    for (std::size_t i = 0; i < h.size(); ++i) {
      const std::int64_t row = layout_.sgu.at(t, 0);
      h[i] = bf16_bits(shared_activation(mail.bf16_element(layout_.sgu, row, i),
                                         mail.bf16_element(layout_.sgu, row, kSharedIntermediate + i)));
    }
    mail.put_row(layout_.h, layout_.h.at(t, 0), h);
  }
  shared_down();
}

void RankRun::shared_down() {
  const Mail mail = scratch();
  std::vector<BFloat16Bits> rows;
  for (int t = 0; t < key_.tokens; ++t) {
    for (std::size_t i = 0; i < kSharedIntermediate; ++i) {
      rows.push_back(bf16_bits(mail.bf16_element(layout_.h, layout_.h.at(t, 0), i)));
    }
  }
  const BFloat16Activations h(rows, tokens_);
  const auto shp = mail.row(layout_.shp);
  for (int task = 0; task < kOutputTasks; ++task) {
    const int group = shared_down_group(task, rank_);
    const Outputs values = gemv("w_sd", group, kSharedDownGemv, h);
    if (task >= kUpTasks) {
      push_rows(peer_layout_.final_, values, group, kHidden / 2);
      continue;
    }
    for (int t = 0; t < key_.tokens; ++t) {
      for (int i = 0; i < kRowsPerTask; ++i) {
        shp[static_cast<std::size_t>(layout_.shp.at(t, kRowsPerTask * task + i))] = bf16_bits(values[t][i]);
      }
    }
    mail.put(layout_.shrdy, task, kFlag);
  }
}

void RankRun::publish_pick(int token, int k, const MxRow& row) const {
  const Mail mail = scratch();
  const int pick = kTopExperts * token + k;
  for (int word = 0; word < layout_.inter.axes[1].extent; ++word) {
    mail.put(layout_.inter, layout_.inter.at(pick, word), row.words[word]);
  }
  for (int block = 0; block < kIntermediateBlocks; ++block) {
    mail.put(layout_.isc, layout_.isc.at(pick, block), std::uint32_t{row.codes[block]});
  }
}

void RankRun::experts() {
  const ExpertWeights weights = {of<const std::uint8_t>("w13"), of<const std::uint8_t>("w13s"),
                                 of<const std::uint8_t>("w2"), of<const std::uint8_t>("w2s")};
  const Mail mail = peer(rank_);
  for (int t = 0; t < key_.tokens; ++t) {
    std::vector<BFloat16Bits> row(kLatent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = bf16_bits(mail.bf16_element(peer_layout_.lat, peer_layout_.lat.at(t, 0), i));
    }
    const std::vector<reference::MxColumnBlock> latent = quantise_latent(row).blocks();
    std::vector<float> y(kLatent, 0);
    for (int k = 0; k < kTopExperts; ++k) {
      const Routing& picks = routes_[static_cast<std::size_t>(t)];
      const int expert = picks.expert[static_cast<std::size_t>(k)];
      const GateUp values = gate_up(model_, weights, expert, latent);
      std::array<float, kIntermediate> activated{};
      for (std::size_t i = 0; i < activated.size(); ++i) activated[i] = expert_activation(values.gate[i], values.up[i]);
      const MxRow quantised = quantise_intermediate(activated);
      publish_pick(t, k, quantised);
      const auto result = down(model_, weights, expert, quantised.blocks());
      const float weight = picks.weight[static_cast<std::size_t>(k)];
      for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = reference::round_bf16(y[i] + reference::round_bf16(result[i] * weight));
      }
    }
    std::ranges::transform(y, row.begin(), bf16_bits);
    for (int destination = 0; destination < kRanks; ++destination) {
      peer(destination).put_row(peer_layout_.latr, peer_layout_.latr.at(rank_, t, 0), row);
    }
  }
}

void RankRun::latent_norm() {
  const Mail mail = scratch();
  const auto weight = of<const BFloat16Bits>("ln_w");
  const auto ln = mail.row(layout_.ln);
  for (int t = 0; t < key_.tokens; ++t) {
    const std::size_t first = static_cast<std::size_t>(t) * kLatent;
    std::vector<float> row(kLatent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = bf16_value(reduced(peer_layout_.latr, kLatent / 2, static_cast<std::size_t>(t), i));
    }
    float total = 0;
    for (int slice = 0; slice < kLatentSlices; ++slice) {
      reference::Wave squares{};
      for (std::size_t lane = 0; lane < squares.size(); ++lane) {
        const float* const pair = &row[static_cast<std::size_t>(slice) * kSliceColumns + 2 * lane];
        squares[lane] = pair[0] * pair[0] + pair[1] * pair[1];
      }
      const float sum = reference::wave_sum(squares);
      mail.put(layout_.lmsq, layout_.lmsq.at(slice, t), sum);
      total = slice == 0 ? sum : total + sum;
    }
    const float scale = reference::rsq(total * kInverseLatent + key_.ln_eps);
    for (std::size_t i = 0; i < row.size(); ++i) ln[first + i] = bf16_bits((row[i] * scale) * bf16_value(weight[i]));
  }
  for (int slice = 0; slice < kLatentSlices; ++slice) mail.put(layout_.lnrdy, slice, kFlag);
}

void RankRun::up() {
  const Mail mail = scratch();
  const BFloat16Activations ln(mail.row(layout_.ln), tokens_);
  const auto shp = mail.row(layout_.shp);
  for (int task = 0; task < kUpTasks; ++task) {
    Outputs values = gemv("w_up", task, kUpGemv, ln);
    for (int t = 0; t < key_.tokens; ++t) {
      for (int i = 0; i < kRowsPerTask; ++i) {
        const auto index = static_cast<std::size_t>(layout_.shp.at(t, kRowsPerTask * task + i));
        values[t][i] = bf16_value(shp[index]) + values[t][i];
      }
    }
    push_rows(peer_layout_.final_, values, kUpTasks * rank_ + task, kHidden / 2);
  }
}

void RankRun::reduce() {
  if (!key_.reduce) return;
  for (std::size_t t = 0; t < tokens_; ++t) {
    for (std::size_t i = 0; i < kHidden; ++i) {
      result().out[t * kHidden + i] = reduced(peer_layout_.final_, kHidden / 2, t, i);
    }
  }
}

}  // namespace monojit::kernels::kimi_k3
