#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/random.h"
#include "kernels/minimax_m3/k1/reference/head.h"
#include "kernels/minimax_m3/k1/reference/wide_head.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::bf16_bits;
using reference::BFloat16Bits;
using reference::Fp8Format;

constexpr float kEps = 1e-6F;
constexpr std::uint64_t kSeed = 9;
constexpr Chip kChip{Fp8Format::kOcp, 448, 448};
constexpr Chip kFnuzChip{Fp8Format::kFnuz, 224, 240};

struct Head {
  HeadVector e{};
  std::array<BFloat16Bits, kHeadDim> gamma{};
  std::array<BFloat16Bits, kRotaryDim> cos_sin{};

  void rotate_by(float cosine, float sine) {
    for (std::size_t i = 0; i < 32; ++i) {
      cos_sin[i] = bf16_bits(cosine);
      cos_sin[32 + i] = bf16_bits(sine);
    }
  }
  HeadVector run() const { return norm_and_rotate(e, gamma, cos_sin, kEps); }
};

/// Distinct values 1 + d / 128, whose norm is the same for all tests.
Head distinct_head() {
  Head head;
  for (std::size_t d = 0; d < kHeadDim; ++d) head.e[d] = 1.0F + static_cast<float>(d) / 128;
  head.rotate_by(1, 0);
  return head;
}

TEST_CASE("cosine 1 and sine 0 leave the normed head as it is") {
  const Head head = distinct_head();
  double squares = 0;
  for (const float e : head.e) squares += static_cast<double>(e) * e;
  const double rstd = 1 / std::sqrt(squares / kHeadDim + 1e-6);
  const HeadVector out = head.run();
  for (std::size_t d = 0; d < kHeadDim; ++d) CHECK(std::fabs(out[d] - head.e[d] * rstd) < 1e-6);
}

TEST_CASE("a quarter turn pairs d with d + 32: the lower half takes the negated upper one") {
  Head head = distinct_head();
  const HeadVector normed = head.run();
  head.rotate_by(0, 1);
  const HeadVector out = head.run();
  for (std::size_t d = 0; d < 32; ++d) {
    CHECK(out[d] == -normed[d + 32]);
    CHECK(out[d + 32] == normed[d]);
  }
  for (std::size_t d = 64; d < kHeadDim; ++d) CHECK(out[d] == normed[d]);
}

TEST_CASE("each pair has an angle of its own") {
  Head head = distinct_head();
  const HeadVector normed = head.run();
  head.rotate_by(1, 0);
  head.cos_sin[31] = 0;
  head.cos_sin[63] = bf16_bits(1);
  const HeadVector out = head.run();
  CHECK(out[31] == -normed[63]);
  CHECK(out[63] == normed[31]);
  CHECK(out[30] == normed[30]);
  CHECK(out[32] == normed[32]);
  CHECK(out[64] == normed[64]);
}

TEST_CASE("only the product with the sine is rounded before the sum") {
  reference::Random random(kSeed, 1);
  int telling = 0;
  for (int i = 0; i < 100; ++i) {
    Head head;
    for (float& e : head.e) e = reference::round_bf16(random.gaussian());
    head.rotate_by(1, 0);
    const HeadVector n = head.run();
    const float cosine = reference::round_bf16(random.gaussian());
    const float sine = reference::round_bf16(random.gaussian());
    head.rotate_by(cosine, sine);
    const HeadVector out = head.run();
    for (std::size_t d = 0; d < 32; ++d) {
      const float low_product = n[d] * sine;
      const float high_product = n[d + 32] * sine;
      // f32 times bf16 has 32 bits, so double is wide enough for the sums of such neighbours.
      CHECK(out[d] == static_cast<float>(static_cast<double>(n[d]) * cosine - high_product));
      CHECK(out[d + 32] == static_cast<float>(static_cast<double>(n[d + 32]) * cosine + low_product));
      telling += out[d] != n[d] * cosine - high_product;
      telling += out[d + 32] != n[d + 32] * cosine + low_product;
    }
  }
  CHECK(telling > 1000);
}

TEST_CASE("a head is multiplied by the deviation first, by 1 + gamma second") {
  Head head;
  head.e[100] = 3;
  const auto rstd = static_cast<float>(1 / std::sqrt(static_cast<double>(9.0F / kHeadDim + kEps)));
  int telling = 0;
  for (int i = 1; i < 200; ++i) {
    head.gamma[100] = bf16_bits(static_cast<float>(i) / 128);
    const float factor = reference::bf16_value(head.gamma[100]) + 1;
    CHECK(head.run()[100] == (3 * rstd) * factor);
    telling += (3 * rstd) * factor != 3 * (rstd * factor);
  }
  CHECK(telling > 20);
}

TEST_CASE("four neighbours of a head are summed first, then lanes 16 apart") {
  const auto deviation = [](const HeadVector& e) {  // of dim 127, whose value is 1
    Head head;
    head.e = e;
    head.rotate_by(1, 0);
    return head.run()[127];
  };
  const auto expected = [](float squares) {
    return static_cast<float>(1 / std::sqrt(static_cast<double>(squares / kHeadDim + kEps)));
  };
  constexpr float kLarge = 5824.0F * 5824.0F;  // absorbs up to 2; the next f32, 4 further, has another deviation
  REQUIRE(expected(kLarge) != expected(kLarge + 4));
  HeadVector e{};
  e[0] = 5824;
  e[1] = e[2] = e[3] = 1;  // one after the other, not as 3
  e[127] = 1;              // lane 31 arrives last, by way of lane 1
  CHECK(deviation(e) == expected(kLarge));
  e[64] = e[65] = 1;  // lane 16 arrives first, with 2; together with lane 31 it would be 3
  CHECK(deviation(e) == expected(kLarge));
  e[4] = e[5] = 1;  // lane 1 meets lane 31 before lane 0: 3
  CHECK(deviation(e) == expected(kLarge + 4));
}

TEST_CASE("a gamma of -1 gives zeros, a zero head too") {
  Head head = distinct_head();
  head.gamma.fill(bf16_bits(-1));
  for (const float value : head.run()) CHECK(value == 0);
  Head zero;
  zero.rotate_by(0.5F, 0.5F);
  for (const float value : zero.run()) CHECK(value == 0);
}

TEST_CASE("a head agrees with its order-free reference") {
  reference::Random random(kSeed, 0);
  for (int i = 0; i < 100; ++i) {
    Head head;
    for (float& e : head.e) e = reference::round_bf16(random.gaussian() * 3);
    for (BFloat16Bits& gamma : head.gamma) gamma = bf16_bits(random.gaussian());
    for (BFloat16Bits& value : head.cos_sin) value = bf16_bits(static_cast<float>(2 * random.uniform() - 1));
    const HeadVector out = head.run();
    const WideHead wide = wide_norm_and_rotate(head.e, head.gamma, head.cos_sin, kEps);
    for (std::size_t d = 0; d < kHeadDim; ++d) CHECK(std::fabs(out[d] - wide[d].value) <= wide[d].slack);
  }
}

TEST_CASE("the K scale comes from the values before bf16: the largest may exceed 448 and still rounds to it") {
  HeadVector k{};
  k[7] = 1 + 3 * 0x1p-8F;  // bf16 rounds this tie up, by 2^-8
  for (const bool saturate : {false, true}) {
    const CacheRow row = k_cache_row(k, KvScale::kPerToken, 0, saturate, kChip);
    CHECK(row.scale == k[7] / 448);
    CHECK(row.bytes[7] == 0x7E);
    CHECK(row.bytes[6] == 0);
  }
}

TEST_CASE("K rounds to bf16 before the division, V is divided as it is") {
  HeadVector row{};
  row[0] = 448;
  row[1] = 17 + 0x1p-6F;  // above the tie between 16 and 18; as bf16 it is 17, the tie itself
  CHECK(k_cache_row(row, KvScale::kPerToken, 0, true, kChip).bytes[1] == reference::fp8_bits(Fp8Format::kOcp, 16));
  CHECK(v_cache_row(row, KvScale::kPerToken, 0, true, kChip).bytes[1] == reference::fp8_bits(Fp8Format::kOcp, 18));
  CHECK(index_cache_row(row, true, kChip).bytes[1] == reference::fp8_bits(Fp8Format::kOcp, 16));
}

TEST_CASE("zero or NaN rows have scale 1") {
  HeadVector row{};
  CHECK(k_cache_row(row, KvScale::kPerToken, 0, true, kChip).scale == 1);
  CHECK(v_cache_row(row, KvScale::kPerToken, 0, true, kChip).scale == 1);
  row[3] = std::numeric_limits<float>::quiet_NaN();
  row[4] = 2;
  const CacheRow spoiled = k_cache_row(row, KvScale::kPerToken, 0, true, kChip);
  CHECK(spoiled.scale == 1);
  CHECK(reference::fp8_is_nan(Fp8Format::kOcp, spoiled.bytes[3]));
  CHECK(spoiled.bytes[4] == reference::fp8_bits(Fp8Format::kOcp, 2));
}

TEST_CASE("scale modes: one, and one from memory") {
  HeadVector row{};
  row[0] = 3;
  const CacheRow one = v_cache_row(row, KvScale::kStaticOne, 0.5F, true, kChip);
  CHECK(one.scale == 1);
  CHECK(one.bytes[0] == reference::fp8_bits(Fp8Format::kOcp, 3));
  const CacheRow read = v_cache_row(row, KvScale::kScalarRead, 0.5F, true, kChip);
  CHECK(read.scale == 0.5F);
  CHECK(read.bytes[0] == reference::fp8_bits(Fp8Format::kOcp, 6));
}

TEST_CASE("values beyond the range saturate, or become NaN in builds that don't clamp") {
  HeadVector row{};
  row[0] = 470;
  row[1] = -470;
  row[2] = 464;
  const auto v_row = [](const HeadVector& v, KvScale mode, float scalar, bool saturate, const Chip& chip) {
    return v_cache_row(v, mode, scalar, saturate, chip);
  };
  for (CacheRow (*insert)(const HeadVector&, KvScale, float, bool, const Chip&) : {k_cache_row, +v_row}) {
    const CacheRow clamped = insert(row, KvScale::kStaticOne, 0, true, kChip);
    CHECK(clamped.bytes[0] == 0x7E);
    CHECK(clamped.bytes[1] == 0xFE);
    const CacheRow loose = insert(row, KvScale::kStaticOne, 0, false, kChip);
    CHECK(loose.bytes[0] == 0x7F);
    CHECK(loose.bytes[1] == 0xFF);
    CHECK(loose.bytes[2] == 0x7E);
  }
  CHECK(index_cache_row(row, true, kChip).bytes[0] == 0x7E);
  CHECK(index_cache_row(row, false, kChip).bytes[0] == 0x7F);
  CHECK(index_cache_row(row, true, kFnuzChip).bytes[1] == 0xFF);   // -240
  CHECK(index_cache_row(row, false, kFnuzChip).bytes[1] == 0x80);  // NaN
}

TEST_CASE("small index keys reach the subnormal codes and signed zeros") {
  HeadVector row{};
  row[0] = 0x1p-10F;         // half the smallest code: a tie to zero
  row[1] = 1.5F * 0x1p-10F;  // above it
  row[2] = -0x1p-12F;
  row[3] = 3 * 0x1p-9F;
  const CacheRow ocp = index_cache_row(row, true, kChip);
  CHECK(ocp.bytes[0] == 0x00);
  CHECK(ocp.bytes[1] == 0x01);
  CHECK(ocp.bytes[2] == 0x80);
  CHECK(ocp.bytes[3] == 0x03);
  const CacheRow fnuz = index_cache_row(row, true, kFnuzChip);
  CHECK(fnuz.bytes[0] == 0x01);
  CHECK(fnuz.bytes[2] == 0x00);  // there is no -0
  CHECK(fnuz.bytes[3] == 0x06);
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
