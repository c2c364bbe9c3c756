#include "kernels/kimi_k3/guards.h"

#include <functional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/kimi_k3/k2/arguments.h"
#include "kernels/kimi_k3/k2/reference/group.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("the stock configuration is accepted") { CHECK(refuse_configuration({}).empty()); }

TEST_CASE("every setting that the kernels can't serve is refused by name") {
  struct Case {
    std::string_view reason;
    std::function<void(EngineConfig&)> spoil;
  };
  const std::vector<Case> cases = {
      {"tensor parallelism is 4, must be 8", [](EngineConfig& c) { c.tensor_parallel = 4; }},
      {"pipeline parallelism is 2, must be 1", [](EngineConfig& c) { c.pipeline_parallel = 2; }},
      {"data parallelism", [](EngineConfig& c) { c.data_parallel = 2; }},
      {"prefill context parallelism", [](EngineConfig& c) { c.prefill_context_parallel = 2; }},
      {"decode context parallelism is 4, must be 1 or 8", [](EngineConfig& c) { c.decode_context_parallel = 4; }},
      {"expert parallelism", [](EngineConfig& c) { c.expert_parallel = true; }},
      {"EPLB", [](EngineConfig& c) { c.expert_load_balancing = true; }},
      {"DBO", [](EngineConfig& c) { c.dual_batch_overlap = true; }},
      {"LoRA", [](EngineConfig& c) { c.lora = true; }},
      {"sleep mode", [](EngineConfig& c) { c.sleep_mode = true; }},
      {"weight offload", [](EngineConfig& c) { c.weight_offload = true; }},
      {"weight updates", [](EngineConfig& c) { c.weight_updates = true; }},
      {"capture of routed experts", [](EngineConfig& c) { c.routed_expert_capture = true; }},
      {"speculative decoding is off", [](EngineConfig& c) { c.speculation = Speculation::kNone; }},
      {"adaptive", [](EngineConfig& c) { c.speculation = Speculation::kAdaptive; }},
      {"dynamic", [](EngineConfig& c) { c.speculation = Speculation::kDynamic; }},
      {"8 draft tokens are not in 1..7", [](EngineConfig& c) { c.draft_tokens = 8; }},
      {"MoRIIO", [](EngineConfig& c) { c.kv_connector = KvConnector::kOther; }},
      {"V1 runner", [](EngineConfig& c) { c.v1_runner = true; }},
      {"torch.compile", [](EngineConfig& c) { c.stock_torch_compile = true; }},
      {"hidden size is 4096", [](EngineConfig& c) { c.hidden = 4096; }},
      {"number of experts", [](EngineConfig& c) { c.experts = 384; }},
      {"experts per token", [](EngineConfig& c) { c.experts_per_token = 8; }},
      {"number of layers", [](EngineConfig& c) { c.layers = 61; }},
      {"block size", [](EngineConfig& c) { c.attention_residual_block = 8; }},
      {"gfx942, must be gfx950", [](EngineConfig& c) { c.arch = "gfx942"; }},
      {"128 compute units", [](EngineConfig& c) { c.compute_units = 128; }},
  };
  for (const Case& one : cases) {
    EngineConfig config;
    one.spoil(config);
    const Reasons reasons = refuse_configuration(config);
    REQUIRE(reasons.size() == 1);
    CHECK_THAT(reasons[0], ContainsSubstring(std::string(one.reason)));
  }
  EngineConfig allowed;
  allowed.decode_context_parallel = 8;
  allowed.kv_connector = KvConnector::kMoriioConsumer;
  CHECK(refuse_configuration(allowed).empty());
}

TEST_CASE("all reasons against a configuration come at once") {
  EngineConfig config;
  config.tensor_parallel = 1;
  config.lora = true;
  config.speculation = Speculation::kDynamic;
  config.draft_tokens = 9;
  config.compute_units = 80;
  CHECK(refuse_configuration(config).size() == 5);
}

/// Weights as the kernel wants them, by the list that the reference has.
LayerWeights good_weights() {
  LayerWeights weights;
  for (const TensorShape& shape : rank_shapes(K2Key{})) {
    const bool state = shape.written || shape.name == "core" || shape.name == "blocks" ||
                       shape.extents == std::vector<std::int64_t>{1};
    if (state) continue;
    const std::string_view dtype =
        shape.dtype == DType::kBFloat16 ? "bf16" : (shape.dtype == DType::kFloat32 ? "f32" : "uint8");
    weights.tensors.push_back({shape.name, dtype, shape.extents, true});
  }
  return weights;
}

TEST_CASE("a layer's weights are accepted as the kernel reads them") {
  const LayerWeights weights = good_weights();
  CHECK(weights.tensors.size() == 15);
  CHECK(refuse_weights(weights).empty());
}

TEST_CASE("weights of a wrong type, shape or order are refused, all at once") {
  LayerWeights weights = good_weights();
  weights.tensors[0].dtype = "f32";
  weights.tensors[1].shape = {7};
  weights.tensors[2].contiguous = false;
  weights.tensors.pop_back();
  weights.tensors.push_back({"w_x", "bf16", {1}, true});
  weights.routed_scaling_factor = 2.5;
  weights.moe_backend = "TRITON";
  weights.activation = "silu";
  weights.situ_beta = 1.5;
  weights.situ_linear_beta = 7;
  weights.scoring = "softmax";
  weights.renormalised = false;
  weights.has_shared_experts = false;
  weights.interleaved_gate_up = true;
  const Reasons reasons = refuse_weights(weights);
  CHECK(reasons.size() == 14);
  std::string all;
  for (const std::string& reason : reasons) all += reason + "\n";
  for (const char* const part :
       {"w_o is f32, must be bf16", "has shape [7], must have [7168]", "not contiguous", "w_x is none",
        "w_up is missing", "2.5", "TRITON", "silu", "beta is 1.5, must be 4", "linear beta is 7, must be 25",
        "scores by softmax", "renormalised", "no shared experts", "separated"}) {
    CHECK_THAT(all, ContainsSubstring(part));
  }
}

TEST_CASE("steps of whole uniform requests are served up to 8 rows") {
  const std::vector<int> one = {8};
  CHECK(refuse_step({one, 7, true}).empty());
  const std::vector<int> four = {2, 2, 2, 2};
  CHECK(refuse_step({four, 1, true}).empty());
  const std::vector<int> five = {2, 2, 2, 2, 2};
  CHECK(refuse_step({five, 1, true}).size() == 1);
  const std::vector<int> uneven = {2, 3};
  CHECK_THAT(refuse_step({uneven, 1, true}).at(0), ContainsSubstring("request 1 has 3 rows, must have 2"));
  CHECK(refuse_step({{}, 1, true}).size() == 1);
  CHECK(refuse_step({uneven, 1, false}).size() == 2);
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
