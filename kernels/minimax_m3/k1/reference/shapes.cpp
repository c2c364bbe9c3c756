#include "kernels/minimax_m3/k1/reference/shapes.h"

#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {
namespace {

std::vector<TensorShape> shapes(const K1Key& key, std::int64_t positions, std::int64_t pages, std::int64_t blocks,
                                std::int64_t table_width) {
  const std::int64_t tokens = key.tokens;
  const std::vector<std::int64_t> scales = key.kv_scale == KvScale::kScalarRead
                                               ? std::vector<std::int64_t>{1}
                                               : std::vector<std::int64_t>{pages, kPageTokens};
  return {
      {"ar", DType::kBFloat16, {tokens, kHidden}},
      {"res", DType::kBFloat16, {tokens, kHidden}},
      {"h_out", DType::kBFloat16, {tokens, kHidden}},
      {"g_in", DType::kBFloat16, {kHidden}},
      {"w_qkv", DType::kFp8, {projection_rows(key.index_heads), kHidden}},
      {"s_qkv", DType::kFloat32, {projection_rows(key.index_heads)}},
      {"g_q", DType::kBFloat16, {kHeadDim}},
      {"g_k", DType::kBFloat16, {kHeadDim}},
      {"g_iq", DType::kBFloat16, {kHeadDim}},
      {"g_ik", DType::kBFloat16, {kHeadDim}},
      {"cos_sin", DType::kBFloat16, {positions, kRotaryDim}},
      {"positions", DType::kInt64, {tokens}},
      {"slot_mapping", DType::kInt64, {tokens}},
      {"k_cache", DType::kFp8, {pages, kHeadDim / 16, kPageTokens, 16}},
      {"v_cache", DType::kFp8, {pages, kHeadDim, kPageTokens}},
      {"k_scale", DType::kFloat32, scales},
      {"v_scale", DType::kFloat32, scales},
      {"index_cache", DType::kFp8, {blocks, kBlock, kHeadDim}},
      {"q_out", DType::kBFloat16, {tokens, kQHeads, kHeadDim}},
      {"iq_out", DType::kBFloat16, {tokens, kHeadDim}},
      {"block_table", DType::kInt32, {tokens, table_width}},
      {"seq_lens", DType::kInt32, {tokens}},
      {"bt_width", DType::kInt32, {1}},
      {"q_len", DType::kInt32, {1}},
      {"iscore", DType::kInt32, {kMaxTokens, kScorePairs, 2}},
      {"scratch", DType::kUint8, {kScratchBytes}},
      {"step", DType::kInt32, {1}},
      {"layer", DType::kInt32, {1}},
      {"tl", DType::kInt64, {kWorkgroups, kTimelinePoints}},
  };
}

}  // namespace

std::vector<TensorShape> tensor_shapes(const K1Key& key, const FreeExtents& extents) {
  return shapes(key, extents.positions, extents.blocks * key.page_stride, extents.index_blocks, extents.table_width);
}

std::vector<TensorShape> tensor_shapes(const K1Key& key) { return shapes(key, kFree, kFree, kFree, kFree); }

}  // namespace monojit::kernels::minimax_m3
