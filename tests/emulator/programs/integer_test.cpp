// Integer programs, against the same source on the host or what OpenCL's text defines.
#include <algorithm>
#include <bit>
#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/integer_core.h"
#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kSeed = 24;
constexpr u32 kCount = 512;
constexpr Shape kShape{.grid = {kCount / 128, 1, 1}, .block = {128, 1, 1}};

__extension__ using Wide = __int128;
__extension__ using WideUnsigned = unsigned __int128;

/// Random numbers of random magnitudes, with the corners in front.
std::vector<u64> numbers(u64 seed) {
  std::vector<u64> values = random_bits<u64>(kCount, kSeed + seed);
  for (u32 i = 0; i < kCount; ++i) values[i] >>= (i * 7 + seed) % 64;
  constexpr u64 kCorners[] = {0, 1, ~u64{0}, u64{1} << 63, (u64{1} << 63) - 1, 0x80000000, 0x7fffffff, 0xffffffff};
  for (u32 i = 0; i < 64; ++i) values[i] = kCorners[(seed == 0 ? i : i / 8) % 8];
  return values;
}

template <class T>
T saturated(Wide value) {
  return static_cast<T>(std::clamp<Wide>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

u64 reversed(u64 value, u32 bits) {
  u64 out = 0;
  for (u32 i = 0; i < bits; ++i) out |= (value >> i & 1) << (bits - 1 - i);
  return out;
}

std::vector<u64> functions_of(u64 x, u64 y) {
  const auto p = static_cast<u32>(x), q = static_cast<u32>(y);
  const auto s = static_cast<i32>(p), t = static_cast<i32>(q);
  const auto h = static_cast<i16>(p), k = static_cast<i16>(q);
  const auto c = static_cast<i8>(p), d = static_cast<i8>(q);
  const auto sx = static_cast<i64>(x), sy = static_cast<i64>(y);
  const auto u = [](Wide value) { return static_cast<u64>(static_cast<u32>(value)); };
  const Wide wp = p, wq = q, ws = s, wt = t;
  return {static_cast<u64>(WideUnsigned{x} * y >> 64),
          static_cast<u64>(Wide{sx} * sy >> 64),
          u(wp * wq >> 32),
          u(ws * wt >> 32),
          saturated<u32>(wp + wq),
          u(saturated<i32>(ws + wt)),
          x > y ? x - y : 0,
          static_cast<u64>(saturated<i64>(Wide{sx} - sy)),
          static_cast<u16>(saturated<i16>(Wide{h} + k)),
          saturated<u8>(Wide{static_cast<u8>(c)} - static_cast<u8>(d)),
          static_cast<u8>(saturated<i8>(Wide{c} + d)),
          u((wp + wq) >> 1),
          u((ws + wt + 1) >> 1),
          u(ws > wt ? ws - wt : wt - ws),
          x > y ? x - y : y - x,
          static_cast<u64>(std::countl_zero(p)),
          static_cast<u64>(std::countl_zero(x)),
          static_cast<u64>(std::countr_zero(x)),
          static_cast<u64>(std::popcount(x)),
          std::rotl(x, static_cast<int>(y % 64)),
          std::rotl(static_cast<u16>(p), q % 16),
          reversed(p, 32),
          reversed(x, 64),
          __builtin_bswap64(x),
          u(Wide{static_cast<i32>(p << 8) >> 8} * (static_cast<i32>(q << 8) >> 8)),
          u(Wide{p & 0xffffff} * (q & 0xffffff) + p),
          saturated<u32>(wp * wq + wp),
          u(saturated<i32>(ws * wt + ws)),
          u(std::max(std::min(s, t), i32{c})),
          static_cast<u64>(std::clamp(sx, i64{-1000}, static_cast<i64>(y >> 1))),
          (x & ~(x ^ y << 3)) | (y & (x ^ y << 3)),
          (static_cast<u64>(static_cast<u32>(h)) << 32 | q) +
              static_cast<u16>(static_cast<u8>(c) << 8 | static_cast<u8>(d))};
}

TEST_CASE("generators of random numbers give the host's numbers") {
  Program program("integer", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<u64> seeds = random_bits<u64>(kCount, kSeed);
  const auto source = program.upload(seeds), out = program.allocate<u64>(kCount);
  program.call("generators", kShape, {source, out});
  for (u32 item = 0; item < kCount; ++item) {
    u64 pcg = seeds[item], xorshift = seeds[item] | 1, mix = 0;
    u32 counter[4] = {item, static_cast<u32>(seeds[item]), 3, 4};
    for (u32 i = 0; i < 8; ++i) {
      mix = mix * 3 + pcg32(&pcg) + xorshift64(&xorshift);
      philox(counter, static_cast<u32>(pcg), static_cast<u32>(xorshift >> 32));
      mix ^= counter[0] | u64{counter[3]} << 32;
    }
    REQUIRE(out[item] == mix);
  }
}

TEST_CASE("quotients and remainders of every width are the host's") {
  Program program("integer", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<u64> a = numbers(0), b = numbers(1);
  const auto da = program.upload(a), db = program.upload(b), out = program.allocate<u64>(kCount);
  program.call("divide", kShape, {da, db, out});
  for (u32 i = 0; i < kCount; ++i) {
    INFO(a[i] << " and " << b[i]);
    REQUIRE(out[i] == divisions(a[i], b[i]));
  }
}

TEST_CASE("products of 1024-bit numbers") {
  Program program("integer", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kProducts = 64, kWords = 64;
  std::vector<u32> in = random_bits<u32>(kProducts * kWords, kSeed);
  std::fill_n(in.begin(), kWords, ~0u);
  const auto source = program.upload(in), out = program.allocate<u32>(kProducts * kWords);
  program.call("multiply_big", {}, {source, out});
  for (u32 i = 0; i < kProducts; ++i) {
    u32 want[kWords];
    big_product(&in[i * kWords], &in[i * kWords + kWords / 2], want);
    for (u32 word = 0; word < kWords; ++word) REQUIRE(out[i * kWords + word] == want[word]);
  }
}

TEST_CASE("powers modulo 64-bit numbers") {
  Program program("integer", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kPowers = 64;
  const std::vector<u64> in = random_bits<u64>(kPowers * 3, kSeed);
  const auto source = program.upload(in), out = program.allocate<u64>(kPowers);
  program.call("powers", {}, {source, out});
  for (u32 i = 0; i < kPowers; ++i) {
    const u64 modulus = in[3 * i + 2] | 1;
    WideUnsigned want = 1, base = in[3 * i] % modulus;
    for (u64 exponent = in [3 * i + 1] >> 48; exponent != 0; exponent >>= 1) {
      if ((exponent & 1) != 0) want = want * base % modulus;
      base = base * base % modulus;
    }
    REQUIRE(out[i] == static_cast<u64>(want));
  }
}

TEST_CASE("integer functions of OpenCL do what its text says") {
  Program program("integer", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<u64> a = numbers(0), b = numbers(1);
  constexpr u32 kResults = 32;
  const auto da = program.upload(a), db = program.upload(b), out = program.allocate<u64>(kCount * kResults);
  program.call("functions", kShape, {da, db, out});
  for (u32 i = 0; i < kCount; ++i) {
    const std::vector<u64> want = functions_of(a[i], b[i]);
    REQUIRE(want.size() == kResults);
    for (u32 n = 0; n < kResults; ++n) {
      INFO("result " << n << " of " << a[i] << " and " << b[i]);
      REQUIRE(out[i * kResults + n] == want[n]);
    }
  }
}

TEST_CASE("vectors of bytes and halfwords") {
  Program program("integer", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<i8> a = random_bits<i8>(kCount * 4, kSeed), b = random_bits<i8>(kCount * 4, kSeed + 1);
  const auto da = program.upload(a), db = program.upload(b), out = program.allocate<i8>(kCount * 8);
  const auto out_short = program.allocate<i16>(kCount * 4);
  program.call("small_vectors", kShape, {da, db, out, out_short});
  for (u32 i = 0; i < kCount; ++i) {
    i16 p[2], q[2];
    std::memcpy(p, &a[4 * i], sizeof p);
    std::memcpy(q, &b[4 * i], sizeof q);
    for (u32 n = 0; n < 4; ++n) {
      const i32 x = a[4 * i + n], y = b[4 * i + n];
      const auto mixed = static_cast<i8>(x * y + (x >> 3) - (y << 2));
      const i8 chosen = x > y ? b[4 * i + 3 - n] : mixed;
      REQUIRE(out[8 * i + n] == static_cast<i8>(chosen ^ (saturated<i8>(x + y) & 0x5a)));
      REQUIRE(out[8 * i + 4 + n] == saturated<i8>(x * y));
    }
    for (u32 n = 0; n < 2; ++n) {
      REQUIRE(out_short[4 * i + n] == static_cast<i16>(std::max(p[n], q[n]) * 3 + std::min(p[n], q[n]) - (p[n] >> 1)));
      const i32 difference = std::abs(p[1] - q[0]);
      REQUIRE(out_short[4 * i + 2 + n] == static_cast<i16>(saturated<i16>(Wide{p[n]} - q[n]) + difference));
    }
  }
}

}  // namespace
}  // namespace monojit::emulator::test
