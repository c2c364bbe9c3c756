#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/reference/matrix_core.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/reference/requests.h"

namespace monojit::kernels::minimax_m3 {

/// One launch of K1 for a directed test: generated data, of which the test sets what it is about.
///
///   K1Case a_case({.tokens = 2});
///   a_case.fill("g_in", -1);
///   a_case.set_slot(0, 143);
///   const std::vector<Tensor> after = launch(a_case.tensors);  // or a_case.expected()
///   for (const Comparison& row : a_case.compare(after)) CHECK(row.ok);
struct K1Case {
  explicit K1Case(const K1Key& case_key = {}, std::string_view case_arch = "gfx950", std::uint64_t case_seed = 0);

  K1Key key;
  std::string arch;
  std::uint64_t seed;
  std::vector<Tensor> tensors;  ///< before the launch, one for every argument

  /// Elements of a tensor as they lie in memory; T by its dtype (bf16: uint16_t bits, FP8: uint8_t).
  template <class T>
  std::span<T> of(std::string_view name) {
    return reference::elements<T>(tensors, name);
  }

  /// Sets one element, or all of them, of a bf16 or f32 tensor.
  void set(std::string_view name, std::size_t index, float value);
  void fill(std::string_view name, float value);
  float get(std::string_view name, std::size_t index) const;

  /// Element (n, k) of the projection weight as an FP8 byte of the chip's format.
  void set_weight(std::int64_t n, std::int64_t k, float value);
  void clear_weights();
  /// Residual row `token` all zero except for what set() puts into "res" afterwards.
  void clear_row(int token);

  /// Rows of weights whose large products cancel and whose small ones get lost in them on the way, on activations of
  /// +-448: what is left tells in which order waves, chunks and halves were summed (specification §16.2, case 3).
  void make_order_sensitive(std::uint64_t order_seed);

  /// The same for the scores: index queries of one value in all dims, keys of large values that cancel and small ones
  /// that get lost in them on the way. What is left tells in which order chunks and lanes' parts were summed.
  void make_score_order_sensitive(std::uint64_t order_seed);

  /// The requests of the step, with all that follows from them (kernels/minimax_m3/k1/reference/requests.h).
  void set_requests(const Requests& requests);
  /// Key `key` of row `row` in the index cache: 128 bytes, wherever its block lies.
  std::span<std::uint8_t> index_key(int row, std::int64_t key);

  /// A slot of the caches, or -1.
  void set_slot(int token, std::int64_t slot) { of<std::int64_t>("slot_mapping")[token] = slot; }
  /// A row of cos_sin.
  void set_position(int token, std::int64_t position) { of<std::int64_t>("positions")[token] = position; }
  void set_launch(std::int32_t step, std::int32_t layer);

  /// All tensors after a launch, by the bit-exact reference.
  std::vector<Tensor> expected(reference::MatrixModel model = reference::MatrixModel::kCdna3) const;
  std::vector<Comparison> compare(const std::vector<Tensor>& after,
                                  reference::MatrixModel model = reference::MatrixModel::kCdna3) const;
  /// Throws UserError when the tensors are not fit for a launch.
  void check() const;
};

/// Projection value of `row` for `token`, read from the scratch of a finished launch.
float qkv_value(const std::vector<Tensor>& after, int token, int row);
/// Its tag.
std::uint32_t qkv_tag(const std::vector<Tensor>& after, int token, int row);

/// Pair `index` of `row` in iscore of a finished launch: a block's score, or [head][block / 4] of a long request.
float score(const std::vector<Tensor>& after, int row, std::int64_t index);
/// Pairs of iscore that a launch wrote: those with its tag.
std::vector<std::int64_t> scored_pairs(const std::vector<Tensor>& after);

}  // namespace monojit::kernels::minimax_m3
