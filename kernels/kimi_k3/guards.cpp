#include "kernels/kimi_k3/guards.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/kimi_k3/model.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr int kMaxDraftTokens = kMaxTokens - 1;
constexpr int kComputeUnits = 256;

class Collector {
 public:
  template <class... Values>
  void refuse_if(bool wrong, fmt::format_string<Values...> text, Values&&... values) {
    if (wrong) reasons_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }
  /// A number that has to be one.
  void expect(std::string_view what, std::int64_t value, std::int64_t wanted) {
    refuse_if(value != wanted, "{} is {}, must be {}", what, value, wanted);
  }
  void refuse_feature(bool on, std::string_view feature) { refuse_if(on, "{} is on: turn it off", feature); }
  Reasons take() { return std::move(reasons_); }

 private:
  Reasons reasons_;
};

void check_parallelism(const EngineConfig& config, Collector& collector) {
  collector.expect("tensor parallelism", config.tensor_parallel, kRanks);
  collector.expect("pipeline parallelism", config.pipeline_parallel, 1);
  collector.expect("data parallelism", config.data_parallel, 1);
  collector.expect("prefill context parallelism", config.prefill_context_parallel, 1);
  const int decode = config.decode_context_parallel;
  collector.refuse_if(decode != 1 && decode != kRanks, "decode context parallelism is {}, must be 1 or {}", decode,
                      kRanks);
  collector.refuse_feature(config.expert_parallel, "expert parallelism");
}

void check_features(const EngineConfig& config, Collector& collector) {
  collector.refuse_feature(config.expert_load_balancing, "expert load balancing (EPLB)");
  collector.refuse_feature(config.dual_batch_overlap, "dual batch overlap (DBO)");
  collector.refuse_feature(config.lora, "LoRA");
  collector.refuse_feature(config.sleep_mode, "sleep mode");
  collector.refuse_feature(config.weight_offload, "weight offload");
  collector.refuse_feature(config.weight_updates, "weight updates");
  collector.refuse_feature(config.routed_expert_capture, "capture of routed experts");
  collector.refuse_feature(config.v1_runner, "the V1 runner");
  collector.refuse_feature(config.stock_torch_compile, "stock torch.compile");
  collector.refuse_if(config.kv_connector == KvConnector::kOther,
                      "the KV connector is not a MoRIIO consumer: use that one or none");
}

void check_speculation(const EngineConfig& config, Collector& collector) {
  switch (config.speculation) {
    case Speculation::kNone:
      collector.refuse_if(true, "speculative decoding is off: the kernels serve verification steps alone");
      return;
    case Speculation::kAdaptive:
      collector.refuse_if(true, "speculation is adaptive: fix the number of draft tokens");
      break;
    case Speculation::kDynamic:
      collector.refuse_if(true, "speculation is dynamic: fix the number of draft tokens");
      break;
    case Speculation::kFixed:
      break;
  }
  collector.refuse_if(config.draft_tokens < 1 || config.draft_tokens > kMaxDraftTokens,
                      "{} draft tokens are not in 1..{}", config.draft_tokens, kMaxDraftTokens);
}

void check_model(const EngineConfig& config, Collector& collector) {
  collector.expect("hidden size", config.hidden, kHidden);
  collector.expect("number of heads", config.heads, 96);
  collector.expect("head dimension", config.head_dim, 128);
  collector.expect("latent size", config.latent, kLatent);
  collector.expect("number of experts", config.experts, kExperts);
  collector.expect("experts per token", config.experts_per_token, kTopExperts);
  collector.expect("routed intermediate size", config.routed_intermediate, kRanks * kIntermediate);
  collector.expect("shared intermediate size", config.shared_intermediate, kRanks * kSharedIntermediate);
  collector.expect("number of layers", config.layers, kLastLayer + 1);
  collector.expect("attention residual block size", config.attention_residual_block, kBlockLayers);
}

/// What a weight has to be.
struct Wanted {
  std::string_view name;
  std::string_view dtype;
  std::vector<std::int64_t> shape;
};

const std::vector<Wanted>& wanted_weights() {
  static const std::vector<Wanted> kWanted = {
      {"w_o", "bf16", {kHidden, kCoreWidth}},
      {"ares_nw", "bf16", {kHidden}},
      {"ares_qk", "bf16", {kHidden}},
      {"in_nw", "bf16", {kHidden}},
      {"w_gate", "bf16", {kExperts, kHidden}},
      {"bias", "f32", {kExperts}},
      {"w_ld", "bf16", {kLatent, kHidden}},
      {"w_sgu", "bf16", {2 * kSharedIntermediate, kHidden}},
      {"w_sd", "bf16", {kHidden, kSharedIntermediate}},
      {"w13", "uint8", {kExperts, 2 * kIntermediate, kLatent / 2}},
      {"w13s", "uint8", {kExperts * 2 * kIntermediate, kLatentBlocks}},
      {"w2", "uint8", {kExperts, kLatent, kIntermediate / 2}},
      {"w2s", "uint8", {kExperts * kLatent, kScaleColumns2}},
      {"ln_w", "bf16", {kLatent}},
      {"w_up", "bf16", {kRankColumns, kLatent}},
  };
  return kWanted;
}

void check_weight(const WeightTensor& tensor, Collector& collector) {
  const auto& wanted = wanted_weights();
  const auto found = std::ranges::find(wanted, tensor.name, &Wanted::name);
  if (found == wanted.end()) {
    collector.refuse_if(true, "weight {} is none of the kernel's", tensor.name);
    return;
  }
  collector.refuse_if(tensor.dtype != found->dtype, "weight {} is {}, must be {}", tensor.name, tensor.dtype,
                      found->dtype);
  collector.refuse_if(tensor.shape != found->shape, "weight {} has shape [{}], must have [{}]", tensor.name,
                      fmt::join(tensor.shape, ", "), fmt::join(found->shape, ", "));
  collector.refuse_if(!tensor.contiguous, "weight {} is not contiguous", tensor.name);
}

}  // namespace

Reasons refuse_configuration(const EngineConfig& config) {
  Collector collector;
  check_parallelism(config, collector);
  check_features(config, collector);
  check_speculation(config, collector);
  check_model(config, collector);
  collector.refuse_if(config.arch != "gfx950", "the device is {}, must be gfx950", config.arch);
  collector.refuse_if(config.compute_units != kComputeUnits,
                      "the device has {} compute units, must have {}: every workgroup has one of its own",
                      config.compute_units, kComputeUnits);
  return collector.take();
}

Reasons refuse_weights(const LayerWeights& weights) {
  Collector collector;
  for (const WeightTensor& tensor : weights.tensors) check_weight(tensor, collector);
  for (const Wanted& wanted : wanted_weights()) {
    const auto count = std::ranges::count(weights.tensors, wanted.name, &WeightTensor::name);
    collector.refuse_if(count == 0, "weight {} is missing", wanted.name);
    collector.refuse_if(count > 1, "weight {} is given {} times", wanted.name, count);
  }
  collector.refuse_if(weights.routed_scaling_factor != 1, "the routed scaling factor is {}, must be 1",
                      weights.routed_scaling_factor);
  collector.refuse_if(weights.moe_backend != "AITER_MXFP4_BF16", "the MoE backend is {}, must be AITER_MXFP4_BF16",
                      weights.moe_backend);
  collector.refuse_if(weights.activation != "situ", "the experts' activation is {}, must be situ", weights.activation);
  collector.refuse_if(weights.situ_beta != 4, "SiTU's beta is {}, must be 4", weights.situ_beta);
  collector.refuse_if(weights.situ_linear_beta != 25, "SiTU's linear beta is {}, must be 25", weights.situ_linear_beta);
  collector.refuse_if(weights.scoring != "sigmoid", "the router scores by {}, must score by sigmoid", weights.scoring);
  collector.refuse_if(!weights.renormalised, "the picked experts' weights are not renormalised: they must be");
  collector.refuse_if(!weights.has_shared_experts, "the layer has no shared experts");
  collector.refuse_if(weights.interleaved_gate_up, "gate and up rows of w13 alternate: they must be separated");
  return collector.take();
}

Reasons refuse_step(const StepShape& step) {
  Collector collector;
  collector.refuse_if(!step.pure_verification, "the step holds more than verification of drafts");
  collector.refuse_if(step.rows_per_request.empty(), "the step has no requests");
  const int width = step.draft_tokens + 1;
  for (std::size_t request = 0; request < step.rows_per_request.size(); ++request) {
    const int rows = step.rows_per_request[request];
    collector.refuse_if(rows != width, "request {} has {} rows, must have {}: the drafts and one more", request, rows,
                        width);
  }
  const int total = std::accumulate(step.rows_per_request.begin(), step.rows_per_request.end(), 0);
  collector.refuse_if(total > kMaxTokens, "the step has {} rows, at most {} fit", total, kMaxTokens);
  return collector.take();
}

}  // namespace monojit::kernels::kimi_k3
