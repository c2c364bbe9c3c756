#include <bit>

#include <catch2/catch_test_macros.hpp>

#include "tests/ir/lane_program.h"

// The lane maps that mfma.h states, against a plain matrix product: small whole numbers, exact in every format and
// order.

namespace monojit::ir::test {
namespace {

constexpr int kLanes = 64;

int a_value(int row, int k) { return (row * 5 + k * 3) % 7 - 3; }
int b_value(int k, int column) { return (column * 2 + k * 5) % 5 - 2; }
int c_value(int row, int column) { return row - 2 * column; }

std::uint32_t bf16(int x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16; }
std::uint32_t f32(int x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }
/// E4M3 of -4..4; `bias` is 7 (OCP) or 8 (FNUZ).
std::uint32_t fp8(int x, int bias) {
  if (x == 0) return 0;
  const int magnitude = x < 0 ? -x : x;
  const int exponent = magnitude >= 4 ? 2 : magnitude >= 2 ? 1 : 0;
  const int mantissa = (magnitude << 3 >> exponent) & 7;
  return static_cast<std::uint32_t>((x < 0 ? 0x80 : 0) | (exponent + bias) << 3 | mantissa);
}
/// E2M1 of -3..3.
std::uint32_t fp4(int x) {
  constexpr int kCodes[] = {0, 2, 4, 5};
  return static_cast<std::uint32_t>(kCodes[x < 0 ? -x : x] | (x < 0 ? 8 : 0));
}

struct Shape {
  int rows;  // and columns
  int k;
  [[nodiscard]] int groups() const { return kLanes / rows; }
  [[nodiscard]] int items() const { return k / groups(); }            // of A and B a lane
  [[nodiscard]] int results() const { return rows * rows / kLanes; }  // of C and D a lane
  [[nodiscard]] int row_of(int lane, int item) const {
    const int g = lane / rows;
    return rows == 16 ? 4 * g + item : 8 * (item / 4) + 4 * g + item % 4;
  }
};

/// Operand A (or B) as `bits`-wide codes of `encode`, packed into dwords, k = k_of(g, item).
template <class Value, class KOf>
void pack_operand(Words& words, const Shape& shape, int bits, Value&& encode, KOf&& k_of) {
  const int per_word = 32 / bits;
  const std::size_t first = words.size();
  words.resize(first + static_cast<std::size_t>(shape.items() / per_word), std::vector<std::uint32_t>(kLanes));
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int item = 0; item < shape.items(); ++item) {
      const std::uint32_t code = encode(lane % shape.rows, k_of(lane / shape.rows, item));
      words[first + static_cast<std::size_t>(item / per_word)][static_cast<std::size_t>(lane)] |=
          code << bits * (item % per_word);
    }
  }
}

void pack_addend(Words& words, const Shape& shape) {
  for (int item = 0; item < shape.results(); ++item) {
    std::vector<std::uint32_t>& row = words.emplace_back(kLanes);
    for (int lane = 0; lane < kLanes; ++lane) {
      row[static_cast<std::size_t>(lane)] = f32(c_value(shape.row_of(lane, item), lane % shape.rows));
    }
  }
}

/// D = A B (times `scale`) + C at each lane's items.
void check_product(const Words& given, const Shape& shape, int scale = 1) {
  REQUIRE(given.size() == static_cast<std::size_t>(shape.results()));
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int item = 0; item < shape.results(); ++item) {
      const int row = shape.row_of(lane, item);
      const int column = lane % shape.rows;
      int sum = 0;
      for (int k = 0; k < shape.k; ++k) sum += a_value(row, k) * b_value(k, column);
      INFO("row " << row << " column " << column);
      CHECK(given[static_cast<std::size_t>(item)][static_cast<std::size_t>(lane)] ==
            f32(sum * scale + c_value(row, column)));
    }
  }
}

template <int N>
Vec<Int32, N> words_at(const std::vector<Int32>& in, std::size_t first) {
  std::array<Int32, N> words;
  for (std::size_t i = 0; i < N; ++i) words[i] = in[first + i];
  return Vec<Int32, N>(words);
}
template <int N>
std::vector<Int32> bits_of_each(const Vec<Float32, N>& v) {
  std::vector<Int32> words;
  for (const Float32 x : v) words.push_back(bitcast<Int32>(x));
  return words;
}

/// Runs a product whose operands are AWords dwords each, in the plain order k = g * items + item.
template <int Words32, int Results, class Multiply>
void check_plain(const Target& target, const Shape& shape, int bits, std::uint32_t (*encode)(int),
                 Multiply&& multiply) {
  const auto k_of = [&](int g, int item) { return g * shape.items() + item; };
  Words words;
  pack_operand(words, shape, bits, [&](int row, int k) { return encode(a_value(row, k)); }, k_of);
  pack_operand(words, shape, bits, [&](int column, int k) { return encode(b_value(k, column)); }, k_of);
  pack_addend(words, shape);
  const Words given = run_lanes(target, words, [&](const std::vector<Int32>& in) {
    const auto c = bitcast<Vec<Float32, Results>>(words_at<Results>(in, 2 * Words32));
    return bits_of_each(multiply(words_at<Words32>(in, 0), words_at<Words32>(in, Words32), c));
  });
  INFO(target.arch << " " << shape.rows << "x" << shape.rows << "x" << shape.k);
  check_product(given, shape);
}

template <int Items>
auto bf16_operand(const Vec<Int32, Items / 2>& words) {
  return bitcast<Vec<BFloat16, Items>>(words);
}

TEST_CASE("bf16 products have the stated lane maps") {
  for (const Target& target : targets()) {
    check_plain<2, 4>(target, {16, 16}, 16, bf16, [](const auto& a, const auto& b, const auto& c) {
      return mfma_f32_16x16x16_bf16(bf16_operand<4>(a), bf16_operand<4>(b), c);
    });
    check_plain<2, 16>(target, {32, 8}, 16, bf16, [](const auto& a, const auto& b, const auto& c) {
      return mfma_f32_32x32x8_bf16(bf16_operand<4>(a), bf16_operand<4>(b), c);
    });
  }
  check_plain<4, 4>(kTargetGfx950, {16, 32}, 16, bf16, [](const auto& a, const auto& b, const auto& c) {
    return mfma_f32_16x16x32_bf16(bf16_operand<8>(a), bf16_operand<8>(b), c);
  });
  check_plain<4, 16>(kTargetGfx950, {32, 16}, 16, bf16, [](const auto& a, const auto& b, const auto& c) {
    return mfma_f32_32x32x16_bf16(bf16_operand<8>(a), bf16_operand<8>(b), c);
  });
}

TEST_CASE("FP8 products have the stated lane maps, each chip in its format") {
  for (const Target& target : targets()) {
    const auto encode =
        target.chip == Chip::kGfx950 ? [](int x) { return fp8(x, 7); } : [](int x) { return fp8(x, 8); };
    check_plain<2, 4>(target, {16, 32}, 8, encode, [](const auto& a, const auto& b, const auto& c) {
      return mfma_f32_16x16x32_fp8(bitcast<Int64>(a), bitcast<Int64>(b), c);
    });
    check_plain<2, 16>(target, {32, 16}, 8, encode, [](const auto& a, const auto& b, const auto& c) {
      return mfma_f32_32x32x16_fp8(bitcast<Int64>(a), bitcast<Int64>(b), c);
    });
  }
}

/// k of an 8-bit item of a scaled form: two halves of 16 (16x16) items.
int split_k(const Shape& shape, int g, int item) { return (item < 16 ? 0 : shape.k / 2) + 16 * g + item % 16; }

TEST_CASE("Scaled products mix FP4 and FP8 and take each block's scale from its byte") {
  // Both scales are the same in all blocks: 2 and 4; the bytes beside them would be wrong.
  constexpr int kScale = 2 * 4;
  constexpr std::uint32_t kTwo = 128U << 16;   // byte 2
  constexpr std::uint32_t kFour = 129U << 24;  // byte 3
  const auto check = [&]<int Results>(const Shape& shape, std::integral_constant<int, Results>, auto multiply) {
    Words words;
    pack_operand(
        words, shape, 4, [&](int row, int k) { return fp4(a_value(row, k)); },
        [](int g, int item) { return 32 * g + item; });
    pack_operand(
        words, shape, 8, [&](int column, int k) { return fp8(b_value(k, column), 7); },
        [&](int g, int item) { return split_k(shape, g, item); });
    pack_addend(words, shape);
    words.emplace_back(kLanes, kTwo);
    words.emplace_back(kLanes, kFour);
    const Words given = run_lanes(kTargetGfx950, words, [&](const std::vector<Int32>& in) {
      const auto c = bitcast<Vec<Float32, Results>>(words_at<Results>(in, 12));
      return bits_of_each(multiply(words_at<4>(in, 0), words_at<8>(in, 4), c, MxScale<2>{in[12 + Results]},
                                   MxScale<3>{in[13 + Results]}));
    });
    check_product(given, shape, kScale);
  };
  using enum MxFormat;
  check({16, 128}, std::integral_constant<int, 4>(),
        [](const auto& a, const auto& b, const auto& c, const auto& sa, const auto& sb) {
          return mfma_scale_f32_16x16x128<kFp4, kFp8>(a, b, c, sa, sb);
        });
  check({32, 64}, std::integral_constant<int, 16>(),
        [](const auto& a, const auto& b, const auto& c, const auto& sa, const auto& sb) {
          return mfma_scale_f32_32x32x64<kFp4, kFp8>(a, b, c, sa, sb);
        });
}

}  // namespace
}  // namespace monojit::ir::test
