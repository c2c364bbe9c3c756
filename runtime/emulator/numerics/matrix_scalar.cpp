#include "runtime/emulator/numerics/matrix_scalar.h"

#include <algorithm>

#include "runtime/emulator/numerics/matrix_number.h"
#include "runtime/emulator/numerics/matrix_sum.h"

namespace monojit::emulator::matrix {
namespace {

constexpr int kLanes = 64;
constexpr int kScaleBlock = 32;
constexpr int kMaxElements = 2048;  // of A or B: 64 lanes of 32 items
constexpr int kMaxResults = 2048;   // 32 x 32 x 2 blocks
constexpr int kMaxScaleBlocks = 4;
constexpr std::uint32_t kNan = 0x7FC00000U;
constexpr std::uint32_t kNanScale = 0xFF;

std::uint32_t read_item(const std::uint32_t* rows, Place place, int width) {
  const int bit = place.item * width;
  const std::uint32_t* word = rows + kLanes * (bit / 32) + place.lane;
  std::uint64_t bits = word[0];
  if (bit % 32 + width > 32) bits |= static_cast<std::uint64_t>(word[kLanes]) << 32;
  return static_cast<std::uint32_t>(bits >> (bit % 32)) & static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
}

std::uint32_t flushed(std::uint32_t f32) { return (f32 & 0x7F800000U) == 0 ? f32 & 0x80000000U : f32; }

/// Rows of A, or columns of B: element k of (block, index) at [(block * m + index) * k_count + k].
void gather(const TileShape& shape, Element element, Format format, const std::uint32_t* rows, bool flush,
            Number* numbers) {
  const int width = format_fields(format).width();
  for (int block = 0; block < shape.blocks; ++block)
    for (int index = 0; index < shape.m; ++index)
      for (int k = 0; k < shape.k; ++k) {
        const Place place = element == Element::kF8f6f4 ? input_place_f8f6f4(shape, width == 8, index, k)
                                                        : input_place(shape, block, index, k);
        const std::uint32_t code = read_item(rows, place, width);
        *numbers++ = decode(format, flush ? flushed(code) : code);
      }
}

std::uint32_t scale_code(const std::uint32_t* row, int lane, int byte) {
  return row == nullptr ? 127U : (row[lane] >> (8 * byte)) & 0xFFU;
}

/// Exponents of the scale of each block of 32 k for row i and column j; false if one of them is NaN.
bool block_scales(const TileShape& shape, const TileArguments& arguments, int i, int j, int* scales) {
  for (int block = 0; block < shape.k / kScaleBlock; ++block) {
    const int k = block * kScaleBlock;
    const std::uint32_t a = scale_code(arguments.scale_a, scale_lane(shape, i, k), arguments.scale_byte_a);
    const std::uint32_t b = scale_code(arguments.scale_b, scale_lane(shape, j, k), arguments.scale_byte_b);
    if (a == kNanScale || b == kNanScale) return false;
    scales[block] = static_cast<int>(a + b) - 254;
  }
  return true;
}

}  // namespace

std::uint32_t sum_products(Element a, MatrixModel model, const Dot& dot) {
  if (model == MatrixModel::kFmaChain) return sum_fused_chain(dot);
  if (model == MatrixModel::kExact) return sum_blocks_exactly(dot, dot.count);
  switch (a) {
    case Element::kF16:
    case Element::kBf16:
      return sum_truncated(dot, std::min(8, dot.count));
    case Element::kXf32:
      return sum_truncated(dot, 4);
    case Element::kFp8:
    case Element::kBf8:
      return sum_two_way_truncated(dot);
    case Element::kF8f6f4:
      return sum_blocks_exactly(dot, kScaleBlock);
    default:
      return sum_fused_chain(dot);
  }
}

void scalar_tile(const TileShape& shape, Chip chip, MatrixModel model, const TileArguments& arguments) {
  static thread_local Number a[kMaxElements];
  static thread_local Number b[kMaxElements];
  const bool flush = arguments.flush_f32_inputs && (shape.a == Element::kF32 || shape.a == Element::kXf32);
  gather(shape, shape.a, element_format(shape.a, chip, arguments.cbsz), arguments.a, flush, a);
  gather(shape, shape.b, element_format(shape.b, chip, arguments.blgp), arguments.b, flush, b);

  std::uint32_t results[kMaxResults];
  for (int block = 0; block < shape.blocks; ++block)
    for (int i = 0; i < shape.m; ++i)
      for (int j = 0; j < shape.n; ++j) {
        const Place place = result_place(shape, block, i, j);
        const int offset = kLanes * place.item + place.lane;
        int scales[kMaxScaleBlocks] = {};
        Dot dot{.a = a + (block * shape.m + i) * shape.k,
                .b = b + (block * shape.n + j) * shape.k,
                .count = shape.k,
                .c = arguments.c == nullptr ? static_cast<std::uint32_t>(arguments.c_constant) : arguments.c[offset],
                .saturate = arguments.fp16_ovfl};
        bool valid = true;
        if (shape.a == Element::kF8f6f4) {
          valid = block_scales(shape, arguments, i, j, scales);
          dot.scale = scales;
        }
        results[offset] = valid ? sum_products(shape.a, model, dot) : kNan;
      }
  std::copy_n(results, kLanes * shape.result_items(), arguments.d);
}

}  // namespace monojit::emulator::matrix
