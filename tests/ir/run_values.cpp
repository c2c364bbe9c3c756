#include <algorithm>
#include <bit>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "tests/ir/lane_program.h"

// Arithmetic, conversions and memory, run on the emulator over edge values.

namespace monojit::ir::test {
namespace {

using std::bit_cast;

/// 64 words with the edges of signed, unsigned and floating numbers among them.
std::vector<std::uint32_t> edges() {
  std::vector<std::uint32_t> words = {0,          1,          2,          3,          31,         32,
                                      0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x0000FFFF,
                                      0xFFFF0000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
                                      0x00000100, 0x12345678, 0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF};
  while (words.size() < 64) words.push_back(words[words.size() - 7] * 2654435761U + 12345);
  return words;
}

struct IntegerCase {
  const char* name;
  Int32 (*program)(const Int32& a, const Int32& b);
  std::uint32_t (*model)(std::uint32_t a, std::uint32_t b);
};

std::int32_t i(std::uint32_t x) { return bit_cast<std::int32_t>(x); }
std::uint32_t u(std::int64_t x) { return static_cast<std::uint32_t>(x); }

constexpr IntegerCase kIntegerCases[] = {
    {"signed division", [](const Int32& a, const Int32& b) { return a / (b | 1); },
     [](std::uint32_t a, std::uint32_t b) { return u(std::int64_t{i(a)} / i(b | 1)); }},
    {"signed remainder", [](const Int32& a, const Int32& b) { return a % (b | 1); },
     [](std::uint32_t a, std::uint32_t b) { return u(std::int64_t{i(a)} % i(b | 1)); }},
    {"unsigned division", [](const Int32& a, const Int32& b) { return udiv(a, b | 1); },
     [](std::uint32_t a, std::uint32_t b) { return a / (b | 1); }},
    {"unsigned remainder", [](const Int32& a, const Int32& b) { return umod(a, b | 1); },
     [](std::uint32_t a, std::uint32_t b) { return a % (b | 1); }},
    {"arithmetic shift", [](const Int32& a, const Int32& b) { return a >> (b & 31); },
     [](std::uint32_t a, std::uint32_t b) { return u(i(a) >> (b & 31)); }},
    {"logical shift", [](const Int32& a, const Int32& b) { return shr_logical(a, b & 31); },
     [](std::uint32_t a, std::uint32_t b) { return a >> (b & 31); }},
    {"signed order", [](const Int32& a, const Int32& b) { return convert<Int32>(a < b); },
     [](std::uint32_t a, std::uint32_t b) { return std::uint32_t{i(a) < i(b)}; }},
    {"unsigned order", [](const Int32& a, const Int32& b) { return convert<Int32>(ult(a, b)); },
     [](std::uint32_t a, std::uint32_t b) { return std::uint32_t{a < b}; }},
    {"signed minimum", [](const Int32& a, const Int32& b) { return min(a, b); },
     [](std::uint32_t a, std::uint32_t b) { return u(std::min(i(a), i(b))); }},
    {"unsigned maximum", [](const Int32& a, const Int32& b) { return umax(a, b); },
     [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); }},
    {"signed high product", [](const Int32& a, const Int32& b) { return mul_high(a, b); },
     [](std::uint32_t a, std::uint32_t b) { return u(std::int64_t{i(a)} * i(b) >> 32); }},
    {"unsigned high product", [](const Int32& a, const Int32& b) { return umul_high(a, b); },
     [](std::uint32_t a, std::uint32_t b) { return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32); }},
    {"set bits", [](const Int32& a, const Int32& b) { return bit_count(a ^ b); },
     [](std::uint32_t a, std::uint32_t b) { return static_cast<std::uint32_t>(std::popcount(a ^ b)); }},
    {"leading zeros", [](const Int32& a, const Int32&) { return leading_zeros(a); },
     [](std::uint32_t a, std::uint32_t) { return static_cast<std::uint32_t>(std::countl_zero(a)); }},
    {"trailing zeros", [](const Int32& a, const Int32&) { return trailing_zeros(a); },
     [](std::uint32_t a, std::uint32_t) { return static_cast<std::uint32_t>(std::countr_zero(a)); }},
    {"bit field", [](const Int32& a, const Int32&) { return bit_field(a, 5, 9); },
     [](std::uint32_t a, std::uint32_t) { return a >> 5 & 0x1FF; }},
    {"signed bit field", [](const Int32& a, const Int32&) { return signed_bit_field(a, 5, 9); },
     [](std::uint32_t a, std::uint32_t) { return u(i(a << 18) >> 23); }},
    {"funnel shift", [](const Int32& a, const Int32& b) { return align_bits(a, b, 12); },
     [](std::uint32_t a, std::uint32_t b) { return a << 20 | b >> 12; }},
    {"byte permutation", [](const Int32& a, const Int32& b) { return byte_permute(a, b, 0x07000503); },
     [](std::uint32_t a, std::uint32_t b) { return (a & 0xFF000000) | (b & 0xFF) << 16 | (a & 0xFF00) | b >> 24; }},
    {"sign extension of a byte", [](const Int32& a, const Int32&) { return convert<Int32>(truncate<Int8>(a)); },
     [](std::uint32_t a, std::uint32_t) { return u(static_cast<std::int8_t>(a)); }},
    {"zero extension of a raw byte", [](const Int32& a, const Int32&) { return convert<Int32>(truncate<UInt8>(a)); },
     [](std::uint32_t a, std::uint32_t) { return a & 0xFF; }},
    {"64 bits",
     [](const Int32& a, const Int32& b) { return truncate<Int32>((extend<Int64>(a) * extend<Int64>(b)) >> 7); },
     [](std::uint32_t a, std::uint32_t b) { return u(std::int64_t{i(a)} * i(b) >> 7); }},
};

TEST_CASE("Integer operations give what their names say") {
  const std::vector<std::uint32_t> a = edges();
  std::vector<std::uint32_t> b(a.rbegin(), a.rend());
  for (const Target& target : targets()) {
    for (const IntegerCase& c : kIntegerCases) {
      INFO(target.arch << ": " << c.name);
      const auto given = run_lanes(target, Words{a, b}, [&](const std::vector<Int32>& in) {
        return std::vector<Int32>{c.program(in[0], in[1])};
      });
      std::vector<std::uint32_t> expected;
      expected.reserve(a.size());
      for (std::size_t t = 0; t < a.size(); ++t) expected.push_back(c.model(a[t], b[t]));
      CHECK(given[0] == expected);
    }
  }
}

float f(std::uint32_t x) { return bit_cast<float>(x); }
std::uint32_t w(float x) { return bit_cast<std::uint32_t>(x); }

struct FloatCase {
  const char* name;
  Float32 (*program)(const Float32& a, const Float32& b);
  float (*model)(float a, float b);
};

constexpr FloatCase kFloatCases[] = {
    {"sum", [](const Float32& a, const Float32& b) { return a + b; }, [](float a, float b) { return a + b; }},
    {"product", [](const Float32& a, const Float32& b) { return a * b; }, [](float a, float b) { return a * b; }},
    {"quotient", [](const Float32& a, const Float32& b) { return a / b; }, [](float a, float b) { return a / b; }},
    {"product, then sum", [](const Float32& a, const Float32& b) { return a * b + a; },
     [](float a, float b) {
       const volatile float product = a * b;
       return product + a;
     }},
    {"fma", [](const Float32& a, const Float32& b) { return fma(a, b, a); },
     [](float a, float b) { return std::fmaf(a, b, a); }},
    {"propagating maximum", [](const Float32& a, const Float32& b) { return max(a, b); },
     [](float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }},
    {"propagating minimum", [](const Float32& a, const Float32& b) { return min(a, b); },
     [](float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }},
    {"maximum of numbers", [](const Float32& a, const Float32& b) { return maxnum(a, b); },
     [](float a, float b) { return std::fmax(a, b); }},
    {"choice by order", [](const Float32& a, const Float32& b) { return select(a < b, a, b); },
     [](float a, float b) { return a < b ? a : b; }},
    {"floor", [](const Float32& a, const Float32&) { return floor(a); }, [](float a, float) { return std::floor(a); }},
    {"nearest even", [](const Float32& a, const Float32&) { return round_even(a); },
     [](float a, float) { return std::nearbyint(a); }},
    {"magnitude", [](const Float32& a, const Float32&) { return abs(a); }, [](float a, float) { return std::fabs(a); }},
};

/// Bits, all NaNs taken as one, and the zeros' signs too where `zeros` says so.
std::uint32_t comparable(float x) { return std::isnan(x) ? 0x7FC00000 : x == 0 ? 0 : w(x); }

TEST_CASE("Float operations are single IEEE operations, denormals included") {
  const std::vector<std::uint32_t> a = edges();
  std::vector<std::uint32_t> b(a.rbegin(), a.rend());
  for (const Target& target : targets()) {
    for (const FloatCase& c : kFloatCases) {
      INFO(target.arch << ": " << c.name);
      const auto given = run_lanes(target, Words{a, b}, [&](const std::vector<Int32>& in) {
        return std::vector<Int32>{bitcast<Int32>(c.program(bitcast<Float32>(in[0]), bitcast<Float32>(in[1])))};
      });
      for (std::size_t t = 0; t < a.size(); ++t) {
        INFO(std::hex << a[t] << ", " << b[t]);
        CHECK(comparable(f(given[0][t])) == comparable(c.model(f(a[t]), f(b[t]))));
      }
    }
  }
}

std::uint32_t bf16_of(float x) {
  if (std::isnan(x)) return 0x7FC0;
  const std::uint32_t bits = w(x);
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

TEST_CASE("bf16 rounds to nearest even and keeps NaN") {
  for (const Target& target : targets()) {
    const std::vector<std::uint32_t> words = edges();
    const auto given = run_lanes(
        target, words, [](const Int32& x) { return bitcast<Int32>(extend<float>(round_bf16(bitcast<Float32>(x)))); });
    for (std::size_t t = 0; t < words.size(); ++t) {
      INFO(target.arch << " " << std::hex << words[t]);
      CHECK(comparable(f(given[t])) == comparable(f(bf16_of(f(words[t])) << 16)));
    }
  }
}

TEST_CASE("Packed FP8 is in the chip's format, lowest byte first, and unpacks to what was packed") {
  for (const Target& target : targets()) {
    const auto given = run_lanes(target, Words{sequence()}, [](const std::vector<Int32>&) {
      const Int32 packed = pack_fp8(1.0F, -2.0F, 0.5F, ir::target().fp8_max);
      const Vec<Float32, 4> back = unpack_fp8(packed);
      return std::vector<Int32>{packed, bitcast<Int32>(back[1]), bitcast<Int32>(back[3])};
    });
    const bool ocp = target.chip == Chip::kGfx950;  // exponent bias 7, FNUZ 8
    CHECK(given[0][5] == (ocp ? 0x7E30C038 : 0x7F38C840));
    CHECK(f(given[1][5]) == -2.0F);
    CHECK(f(given[2][5]) == target.fp8_max);
  }
}

TEST_CASE("MX conversions scale by the exponent alone") {
  const auto given = run_lanes(kTargetGfx950, Words{sequence()}, [](const std::vector<Int32>&) {
    const Int32 none = 0;
    const Int32 fp4 = mx_pack4<1>(3.0F, -12.0F, 2.0F, none);  // 1.5 and -6
    const Vec<Float32, 2> back = mx_unpack4<1>(fp4, 3.0F);    // the factor of 3.0 is 2
    const Int32 fp8 = mx_pack8<MxFormat::kFp8, 1>(8.0F, 1.0F, 4.0F, none);
    const Vec<BFloat16, 2> wide = mx_unpack8_bf16<MxFormat::kFp8, 1>(fp8, 1.0F);
    return std::vector<Int32>{fp4, bitcast<Int32>(back[0]), bitcast<Int32>(back[1]), fp8, bitcast<Int32>(wide)};
  });
  CHECK(given[0][0] == 0xF300);
  CHECK(f(given[1][0]) == 3.0F);
  CHECK(f(given[2][0]) == -12.0F);
  CHECK(given[3][0] == 0x28400000);
  CHECK(given[4][0] == 0x3E804000);
}

TEST_CASE("Words cross the workgroup through LDS and a barrier, byte by byte and in fours") {
  constexpr std::size_t kThreads = 256;
  for (const Target& target : targets()) {
    const auto given = run_lanes(target, Words{sequence(0, 3, kThreads)}, [](const std::vector<Int32>& in) {
      LdsLayout lds;
      const auto words = lds.array<Int32>("words", kThreads);
      const auto bytes = lds.array<UInt8>("bytes", kThreads);
      store(words + thread_id(), in[0]);
      store(bytes + thread_id(), truncate<UInt8>(in[0]));
      barrier();
      const Int32 mirrored = static_cast<int>(kThreads) - 1 - thread_id();
      const Vec<Int32, 4> four = load<4>(words + (mirrored & ~3));
      const Int32 packed = bitcast<Int32>(load<4>(bytes + (thread_id() & ~3)));
      return std::vector<Int32>{load(words + mirrored), four[0] + four[3], packed};
    });
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      const std::uint32_t first = (kThreads - 1 - t) / 4 * 4;
      CHECK(given[0][t] == (kThreads - 1 - t) * 3);
      CHECK(given[1][t] == first * 3 + (first + 3) * 3);
      std::uint32_t packed = 0;
      for (std::uint32_t k = 0; k < 4; ++k) packed |= ((t / 4 * 4 + k) * 3 & 0xFF) << 8 * k;
      CHECK(given[2][t] == packed);
    }
  }
}

TEST_CASE("Atomic additions all count, and each gets a sum of its own") {
  constexpr std::size_t kThreads = 256;
  for (const Target& target : targets()) {
    const auto given = run_lanes(target, Words{sequence(0, 1, kThreads)}, [](const std::vector<Int32>&) {
      const auto counter = LdsLayout().array<Int32>("counter", 1);
      If(thread_id() == 0, [&] { store(counter, 100); });
      barrier();
      const Int32 before = atomic_add(counter.pointer(), 1, Scope::kWorkgroup);
      barrier();
      return std::vector<Int32>{before, load(counter)};
    });
    std::vector<bool> seen(kThreads);
    for (std::size_t t = 0; t < kThreads; ++t) {
      REQUIRE(given[0][t] - 100 < kThreads);
      seen[given[0][t] - 100] = true;
      CHECK(given[1][t] == 100 + kThreads);
    }
    CHECK(std::ranges::count(seen, true) == kThreads);
  }
}

}  // namespace
}  // namespace monojit::ir::test
