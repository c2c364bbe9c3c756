#include "kernels/example/row_norm/emit.h"

#include <vector>

#include "ir/dsl.h"
#include "kernels/example/row_norm/key.h"

namespace monojit::kernels::example {

using namespace monojit::ir;

namespace {

void norm_row(const Kernel& kernel, const RowNormKey& key, const Uniform<Int32>& row) {
  const auto start = convert<Int64>(row) * key.hidden;
  const Int32 lane_element = lane_id() * kRowNormLaneElements;
  const auto x = kernel.argument<Ptr<BFloat16, Global>>("x") + start + lane_element;
  const auto g = kernel.argument<Ptr<BFloat16, Global>>("g") + lane_element;
  const auto y = kernel.argument<Ptr<BFloat16, Global>>("y") + start + lane_element;

  std::vector<Vec<Float32, kRowNormLaneElements>> elements;  // a host loop: unrolled, all loads in flight at once
  for (int i = 0; i < key.hidden; i += kRowNormStep)
    elements.push_back(extend<float>(load<kRowNormLaneElements>(x + i)));

  Float32 squares = 0.0F;
  for (const auto& slice : elements) {
    for (const Float32 v : slice) squares = fma(v, v, squares);
  }
  const Float32 rstd = rsq(wave_sum(squares) / static_cast<float>(key.hidden) + key.eps);

  for (int i = 0; i < key.hidden; i += kRowNormStep) {
    const auto weight = extend<float>(load<kRowNormLaneElements>(g + i));
    const auto& slice = elements[static_cast<std::size_t>(i / kRowNormStep)];
    store(y + i, round_bf16((slice * Vec<Float32, kRowNormLaneElements>(rstd)) * weight));
  }
}

}  // namespace

void emit_row_norm(Kernel& kernel, const BuildKey& build_key) {
  const RowNormKey key = row_norm_key(build_key);
  const Uniform<Int32> row = workgroup_id() * kRowNormWaves + wave_id();
  If(row < key.rows, [&] { norm_row(kernel, key, row); });
}

}  // namespace monojit::kernels::example
