#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What an engine must not run these kernels with (specification of K2, §10.3). Each check is pure and gives every
/// reason at once, a sentence each; none: fine. Ranks gather their answers and act on the common one.
namespace monojit::kernels::kimi_k3 {

using Reasons = std::vector<std::string>;

enum class Speculation : std::uint8_t { kNone, kFixed, kAdaptive, kDynamic };
enum class KvConnector : std::uint8_t { kNone, kMoriioConsumer, kOther };

/// The engine's set-up.
struct EngineConfig {
  int tensor_parallel = 8;
  int pipeline_parallel = 1;
  int data_parallel = 1;
  int prefill_context_parallel = 1;
  int decode_context_parallel = 1;
  bool expert_parallel = false;
  bool expert_load_balancing = false;
  bool dual_batch_overlap = false;
  bool lora = false;
  bool sleep_mode = false;
  bool weight_offload = false;
  bool weight_updates = false;
  bool routed_expert_capture = false;
  Speculation speculation = Speculation::kFixed;
  int draft_tokens = 7;
  KvConnector kv_connector = KvConnector::kNone;
  bool v1_runner = false;
  bool stock_torch_compile = false;
  // The model.
  int hidden = 7168;
  int heads = 96;
  int head_dim = 128;
  int latent = 3584;
  int experts = 896;
  int experts_per_token = 16;
  int routed_intermediate = 3072;
  int shared_intermediate = 6144;
  int layers = 93;
  int attention_residual_block = 12;
  // The device.
  std::string_view arch = "gfx950";
  int compute_units = 256;
};
Reasons refuse_configuration(const EngineConfig& config);

/// A weight as the engine holds it.
struct WeightTensor {
  std::string_view name;   ///< the kernel's argument
  std::string_view dtype;  ///< "bf16", "f32" or "uint8"
  std::vector<std::int64_t> shape;
  bool contiguous = true;
};

/// A layer's weights and what goes with them.
struct LayerWeights {
  std::vector<WeightTensor> tensors;
  double routed_scaling_factor = 1;
  std::string_view moe_backend = "AITER_MXFP4_BF16";
  std::string_view activation = "situ";
  double situ_beta = 4;
  double situ_linear_beta = 25;
  std::string_view scoring = "sigmoid";
  bool renormalised = true;  ///< the picked experts' weights, to a sum of 1
  bool has_shared_experts = true;
  bool interleaved_gate_up = false;  ///< rows of w13 alternate
};
Reasons refuse_weights(const LayerWeights& weights);

/// A step: the rows of each request, and how many of them verify drafts.
struct StepShape {
  std::span<const int> rows_per_request;
  int draft_tokens = 7;
  bool pure_verification = true;  ///< no prefill and no plain decode among the requests
};
Reasons refuse_step(const StepShape& step);

}  // namespace monojit::kernels::kimi_k3
