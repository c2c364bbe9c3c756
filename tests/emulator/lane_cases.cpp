#include "tests/emulator/lane_cases.h"

#include <bit>
#include <cmath>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

namespace monojit::emulator::test {
namespace {

constexpr std::uint64_t kSeed = 0x1234567;
constexpr std::uint32_t kGroups = 48;  // 3,072 lanes: each pair of edge values comes several times
constexpr std::uint32_t kSentinel = 0x5a5a5a5a;
constexpr std::uint32_t kRecordWords = 4;  // of a lane and row: v10, v11, s22, s23
constexpr std::uint64_t kExecs[] = {~std::uint64_t{0}, 0x5555aaaaff0000f1, std::uint64_t{1} << 63};

constexpr std::uint64_t kIntegerEdges[] = {0,
                                           1,
                                           2,
                                           3,
                                           7,
                                           31,
                                           32,
                                           33,
                                           63,
                                           64,
                                           0x7f,
                                           0x80,
                                           0xff,
                                           0x7fff,
                                           0x8000,
                                           0xffff,
                                           0x10000,
                                           0x7fffff,
                                           0x800000,
                                           0xffffff,
                                           0x7fffffff,
                                           0x80000000,
                                           0xffffffff,
                                           0xfffffffe,
                                           0x0c0d0e0f,
                                           0x100000000,
                                           0x7fffffffffffffff,
                                           0x8000000000000000,
                                           0xffffffffffffffff,
                                           0xffffffff00000000};
constexpr std::uint32_t kFloatEdges[] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x40000000, 0x3fc00000,
    0x40200000, 0x40600000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0x00000001,
    0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x4b000000, 0x4b7fffff,
    0x4f000000, 0x4effffff, 0xcf000000, 0xcf000001, 0x4f800000, 0x3eaaaaab, 0x40490fdb, 0x33800000,
    0x47800000, 0x477fe000, 0x38800000, 0x33000000, 0x43e00000, 0x43f00000, 0x3b000000};
constexpr std::uint64_t kDoubleEdges[] = {0,
                                          0x8000000000000000,
                                          0x3ff0000000000000,
                                          0xbff8000000000000,
                                          0x4004000000000000,
                                          0x7ff0000000000000,
                                          0xfff0000000000000,
                                          0x7ff8000000000000,
                                          0x7ff0000000000001,
                                          1,
                                          0x000fffffffffffff,
                                          0x0010000000000000,
                                          0x7fefffffffffffff,
                                          0x41dfffffffc00000,
                                          0x41e0000000000000,
                                          0xc1e0000000200000,
                                          0x41efffffffe00000,
                                          0x4330000000000000,
                                          0x3fd5555555555555};
constexpr std::uint16_t kHalfEdges[] = {0,      0x8000, 0x3c00, 0xbc00, 0x3800, 0x4000, 0x3e00, 0x4100,
                                        0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x0001, 0x8001, 0x03ff, 0x0400,
                                        0x7bff, 0xfbff, 0x6400, 0x3555, 0x4248, 0x1400, 0x7800, 0x5bff};

class Generator {
 public:
  explicit Generator(Values values) : values_(values) {}
  std::uint64_t next() {
    const bool random = random_() % 4 == 0;
    const std::uint64_t bits = random_();
    if (random) return bits;
    switch (values_) {
      case Values::kIntegers:
        return kIntegerEdges[bits % std::size(kIntegerEdges)];
      case Values::kFloats:
        return kFloatEdges[bits % std::size(kFloatEdges)] |
               std::uint64_t{kFloatEdges[(bits >> 32) % std::size(kFloatEdges)]} << 32;
      case Values::kDoubles:
        return kDoubleEdges[bits % std::size(kDoubleEdges)];
      case Values::kHalves:
        return kHalfEdges[bits % std::size(kHalfEdges)] |
               std::uint64_t{kHalfEdges[(bits >> 32) % std::size(kHalfEdges)]} << 16;
    }
    return bits;
  }
  std::uint64_t raw() { return random_(); }

 private:
  Values values_;
  std::mt19937_64 random_{kSeed};
};

// s[4:5] inputs, s[6:7] outputs, s[8:9] EXEC of the rows under test, s[10:11] workgroup scalars.
// Input record of a lane: a, b, c (6 words, 32 bytes apart); output: kRecordWords words for each row.
std::string kernel_body(std::span<const LaneCase> cases) {
  std::string body = R"(
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  s_lshl_b32 s3, s2, 4
  s_waitcnt lgkmcnt(0)
  s_load_dwordx4 s[12:15], s[10:11], s3
  s_lshl_b32 s3, s2, 6
  v_mov_b32_e32 v1, v0
  v_add_u32_e32 v0, s3, v0
  v_lshlrev_b32_e32 v0, 5, v0
  global_load_dwordx4 v[2:5], v0, s[4:5]
  global_load_dwordx2 v[6:7], v0, s[4:5] offset:16
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_mov_b64 s[20:21], s[12:13]
  s_mov_b64 s[24:25], s[14:15]
)";
  body += fmt::format("  v_add_u32_e32 v1, s3, v1\n  v_mov_b32_e32 v20, {:#x}\n  v_mul_lo_u32 v1, v1, v20\n",
                      cases.size() * kRecordWords * 4);
  for (const LaneCase& row : cases) {
    body += fmt::format(R"(
  v_mov_b32_e32 v10, {0:#x}
  v_mov_b32_e32 v11, {0:#x}
  s_mov_b64 s[22:23], 0
  s_mov_b64 vcc, s[20:21]
  s_mov_b64 exec, s[8:9]
  {1}
  s_mov_b64 exec, -1
  v_mov_b32_e32 v12, s22
  v_mov_b32_e32 v13, s23
  global_store_dwordx4 v1, v[10:13], s[6:7]
  v_add_u32_e32 v1, {2}, v1
)",
                        kSentinel, row.text, kRecordWords * 4);
  }
  return body;
}

bool same(std::uint64_t got, std::uint64_t want, Match match) {
  const auto f32 = [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
  switch (match) {
    case Match::kBits32:
    case Match::kHalf:
      if (match == Match::kHalf && (got & 0x7fff) > 0x7c00 && (want & 0x7fff) > 0x7c00) return got >> 16 == 0;
      return static_cast<std::uint32_t>(got) == static_cast<std::uint32_t>(want);
    case Match::kFloat32:
      return static_cast<std::uint32_t>(got) == static_cast<std::uint32_t>(want) ||
             (std::isnan(f32(got)) && std::isnan(f32(want)));
    case Match::kFloatPair:
      return same(got, want, Match::kFloat32) && same(got >> 32, want >> 32, Match::kFloat32);
    case Match::kNear32: {
      if (std::isnan(f32(want))) return std::isnan(f32(got));
      const std::int64_t distance = static_cast<std::int32_t>(got) - std::int64_t{static_cast<std::int32_t>(want)};
      return std::abs(distance) <= 2;
    }
    case Match::kFloat64:
      return got == want || (std::isnan(std::bit_cast<double>(got)) && std::isnan(std::bit_cast<double>(want)));
    case Match::kBits64:
    case Match::kMask:
    case Match::kBits32Mask:
      return got == want;
  }
  return false;
}

std::uint64_t result_of(const std::uint32_t* record, Match match, std::uint32_t lane) {
  const std::uint64_t mask = std::uint64_t{record[2]} | std::uint64_t{record[3]} << 32;
  if (match == Match::kMask) return mask >> lane & 1;
  if (match == Match::kBits32Mask) return record[0] | (mask >> lane & 1) << 32;
  if (match == Match::kBits64 || match == Match::kFloat64 || match == Match::kFloatPair)
    return std::uint64_t{record[0]} | std::uint64_t{record[1]} << 32;
  return record[0];
}

/// What an inactive lane must show: its registers as they were, its mask bit clear.
std::uint64_t untouched(Match match) {
  if (match == Match::kMask) return 0;
  if (match == Match::kBits64 || match == Match::kFloat64 || match == Match::kFloatPair)
    return std::uint64_t{kSentinel} << 32 | kSentinel;
  return kSentinel;
}

}  // namespace

namespace {

void check_on(HostIsa isa, std::span<const LaneCase> cases, Values values, const Settings& settings) {
  Device device(settings, isa);
  Generator generator(values);
  const std::uint32_t lanes = kGroups * kLanes;
  const auto inputs = device.allocate<std::uint64_t>(std::size_t{lanes} * 4);
  const auto scalars = device.allocate<std::uint64_t>(std::size_t{kGroups} * 2);
  const auto outputs = device.allocate<std::uint32_t>(std::size_t{lanes} * cases.size() * kRecordWords);
  for (auto& value : inputs.all()) value = generator.next();
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    scalars.data[2 * group] = generator.raw();
    scalars.data[2 * group + 1] = generator.next();
  }
  const auto object = assemble({.body = kernel_body(cases), .arch = std::string(settings.chip.arch), .agprs = 8});
  const Kernel& kernel = device.load(object, "kernel");
  for (const std::string& problem : kernel.program->problems) FAIL_CHECK(problem);
  for (const std::uint64_t exec : kExecs) {
    device.launch(kernel, {.grid = {kGroups, 1, 1}}, {inputs.address(), outputs.address(), exec, scalars.address()});
    for (std::size_t row = 0; row < cases.size(); ++row) {
      for (std::uint32_t item = 0; item < lanes; ++item) {
        const std::uint32_t lane = item % kLanes, group = item / kLanes;
        const Lane in{inputs[4 * item],
                      inputs[4 * item + 1],
                      inputs[4 * item + 2],
                      scalars[2 * group + 1],
                      (scalars[2 * group] >> lane & 1) != 0,
                      lane};
        const bool active = (exec >> lane & 1) != 0;
        const std::uint64_t want = active ? cases[row].expected(in) : untouched(cases[row].match);
        const std::uint64_t got =
            result_of(&outputs.data[(item * cases.size() + row) * kRecordWords], cases[row].match, lane);
        if (!same(got, want, active ? cases[row].match : Match::kBits64)) {
          FAIL_CHECK(
              fmt::format("{}: lane {} of exec {:#x}: a {:#x} b {:#x} c {:#x} d {:#x} mask {}: got {:#x}, want {:#x}",
                          cases[row].text, lane, exec, in.a, in.b, in.c, in.d, in.mask, got, want));
          break;
        }
      }
    }
  }
}

}  // namespace

void check_lane_cases(std::span<const LaneCase> cases, Values values, const Settings& settings) {
  for (const HostIsa isa : {HostIsa::kX86V3, HostIsa::kX86V4}) {
    if (host_has(isa)) check_on(isa, cases, values, settings);
  }
}

}  // namespace monojit::emulator::test
