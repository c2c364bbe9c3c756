// MFMA and FP8 conversions as instructions: registers, accumulation file, modifiers. What they compute is tested with
// the numerics; here exact small integers tell which element goes where.
#include <bit>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

Settings on(const ChipLimits& chip, MatrixModel model = MatrixModel::kCdna3) {
  Settings settings;
  settings.chip = chip;
  settings.matrix = model;
  return settings;
}

float element(std::uint32_t i, std::uint32_t k) {
  return static_cast<float>(static_cast<int>((i * 7 + k * 3) % 9) - 4);
}
std::uint16_t brain(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }

/// Small integers as E4M3 bytes: OCP on gfx950, FNUZ (exponent bias one more) on gfx942.
std::uint8_t fp8(float x, bool fnuz) {
  if (x == 0) return 0;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t exponent = (bits >> 23 & 255) - 127 + (fnuz ? 8 : 7);
  return static_cast<std::uint8_t>(bits >> 31 << 7 | exponent << 3 | (bits >> 20 & 7));
}

/// D = A * B + C of 16 x 16 x kDepth, with lane l holding row (or column) l % 16 and k = per_lane * (l / 16) ...
void check_product(Device& device, const std::string& text, std::uint32_t depth, std::uint32_t a_words, auto encode,
                   bool accumulation) {
  const std::uint32_t per_lane = depth / 4;
  const std::uint32_t width = 4 * a_words / per_lane;  // bytes an element
  std::vector<std::uint8_t> a(64 * 4 * a_words), b(64 * 4 * a_words);
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    for (std::uint32_t item = 0; item < per_lane; ++item) {
      const std::uint32_t k = lane / 16 * per_lane + item;
      const auto ea = encode(element(lane % 16, k)), eb = encode(element(lane % 16 + 5, k + 1));
      std::memcpy(&a[(lane * per_lane + item) * width], &ea, width);
      std::memcpy(&b[(lane * per_lane + item) * width], &eb, width);
    }
  }
  const auto da = device.upload(a), db = device.upload(b);
  const auto out = device.allocate<float>(256);
  const std::string width_name = fmt::format("dwordx{}", a_words);
  const std::string body =
      fmt::format(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_mul_u32_u24 v1, {0}, v0
  s_waitcnt lgkmcnt(0)
  global_load_{1} v[8:{2}], v1, s[4:5]
  global_load_{1} v[12:{3}], v1, s[6:7]
  v_mov_b32 v4, 1.0
  v_mov_b32 v5, 2.0
  v_mov_b32 v6, 0.5
  v_mov_b32 v7, 0
  s_waitcnt vmcnt(0)
  {4}
  s_nop 15
  v_lshlrev_b32 v1, 4, v0
  global_store_dwordx4 v1, {5}, s[8:9]
)",
                  4 * a_words, width_name, 7 + a_words, 11 + a_words, text, accumulation ? "a[0:3]" : "v[4:7]");
  device.run({.body = body, .agprs = 8}, {}, {da.address(), db.address(), out.address()});
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    for (std::uint32_t item = 0; item < 4; ++item) {
      const std::uint32_t i = 4 * (lane / 16) + item, j = lane % 16;
      float want = std::array{1.0f, 2.0f, 0.5f, 0.0f}[item];
      for (std::uint32_t k = 0; k < depth; ++k) want += element(i, k) * element(j + 5, k + 1);
      INFO(text << " row " << i << " column " << j);
      REQUIRE(out[4 * lane + item] == want);
    }
  }
}

const std::string kToAccumulation =
    "v_accvgpr_write_b32 a0, v4\n v_accvgpr_write_b32 a1, v5\n v_accvgpr_write_b32 a2, v6\n v_accvgpr_write_b32 a3, "
    "v7\n s_nop 4\n";

TEST_CASE("bf16 and FP8 products land where the layout says, under every model of the matrix core") {
  const MatrixModel model = GENERATE(MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact);
  Device mi355x(on(kMi355x, model)), mi300x(on(kMi300x, model));
  check_product(mi355x, "v_mfma_f32_16x16x32_bf16 v[4:7], v[8:11], v[12:15], v[4:7]", 32, 4, brain, false);
  check_product(mi355x, kToAccumulation + "v_mfma_f32_16x16x32_bf16 a[0:3], v[8:11], v[12:15], a[0:3]", 32, 4, brain,
                true);
  check_product(mi300x, "v_mfma_f32_16x16x16_bf16 v[4:7], v[8:9], v[12:13], v[4:7]", 16, 2, brain, false);
  check_product(
      mi355x, "v_mfma_f32_16x16x32_fp8_fp8 v[4:7], v[8:9], v[12:13], v[4:7]", 32, 2,
      [](float x) { return fp8(x, false); }, false);
  check_product(
      mi300x, "v_mfma_f32_16x16x32_fp8_fp8 v[4:7], v[8:9], v[12:13], v[4:7]", 32, 2,
      [](float x) { return fp8(x, true); }, false);
}

TEST_CASE("a constant addend, and scales by operand byte") {
  Device device;
  const auto out = device.allocate<float>(256);
  // A and B are all FP4 ones (code 2): each element of D is 128 times the scales, plus the addend.
  const auto run = [&](const std::string& mfma) {
    const std::string body = fmt::format(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v8, 0x22222222
  v_mov_b32 v9, 0x22222222
  v_mov_b32 v10, 0x22222222
  v_mov_b32 v11, 0x22222222
  v_mov_b32 v16, 0x80827f81
  v_mov_b32 v17, 0x7f7e7f7f
  v_lshlrev_b32 v1, 4, v0
  s_waitcnt lgkmcnt(0)
  {}
  s_nop 15
  global_store_dwordx4 v1, v[4:7], s[4:5]
)",
                                         mfma);
    device.run({.body = body}, {}, {out.address()});
    for (std::uint32_t i = 1; i < 256; ++i) REQUIRE(out[i] == out[0]);
    return out[0];
  };
  const std::string scaled = "v_mfma_scale_f32_16x16x128_f8f6f4 v[4:7], v[8:11], v[8:11], ";
  CHECK(run("v_mfma_f32_16x16x128_f8f6f4 v[4:7], v[8:11], v[8:11], 1.0 cbsz:4 blgp:4") == 129);
  CHECK(run(scaled + "0, v16, v17 op_sel_hi:[0,0,0] cbsz:4 blgp:4") == 128 * 4);
  CHECK(run(scaled + "0, v16, v17 op_sel:[1,0,0] op_sel_hi:[0,0,0] cbsz:4 blgp:4") == 128);
  CHECK(run(scaled + "0, v16, v17 op_sel_hi:[1,0,0] cbsz:4 blgp:4") == 128 * 8);
  CHECK(run(scaled + "0.5, v16, v17 op_sel:[1,0,0] op_sel_hi:[1,1,0] cbsz:4 blgp:4") == 128 * 2 * 0.5f + 0.5f);
}

TEST_CASE("an MFMA under a partial EXEC writes all lanes and is counted") {
  Device device;
  const auto out = device.allocate<float>(256);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v8, 0x3f803f80
  v_mov_b32 v9, 0x3f803f80
  v_mov_b32 v10, 0x3f803f80
  v_mov_b32 v11, 0x3f803f80
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  v_mfma_f32_16x16x32_bf16 v[4:7], v[8:11], v[8:11], 0
  s_mov_b64 exec, -1
  v_lshlrev_b32 v1, 4, v0
  global_store_dwordx4 v1, v[4:7], s[4:5]
)";
  const LaunchReport report = device.run({.body = body}, {}, {out.address()});
  for (std::uint32_t i = 0; i < 256; ++i) REQUIRE(out[i] == 32);
  CHECK(report.stray_matrix_ops == 1);
  CHECK(report.counts[static_cast<u32>(CountClass::kMatrix)] == 1);
}

TEST_CASE("FP8 conversions take the chip's format and the half or byte that op_sel names") {
  const auto run = [](const ChipLimits& chip, const std::string& text) {
    Device device(on(chip));
    const auto out = device.allocate<std::uint32_t>(2);
    const std::string body = fmt::format(
        "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32 v1, 0\n  v_mov_b32 v2, 1.0\n  v_mov_b32 v3, -2.0\n  "
        "v_mov_b32 v4, 0x11223344\n"
        "  v_mov_b32 v5, 0\n  v_mov_b32 v6, 1.0\n  v_mov_b32 v7, 0xb8383840\n  s_waitcnt lgkmcnt(0)\n  {}\n  "
        "global_store_dwordx2 v1, v[4:5], s[4:5]\n",
        text);
    device.run({.body = body}, {.block = {1, 1, 1}}, {out.address()});
    return std::uint64_t{out[0]} | std::uint64_t{out[1]} << 32;
  };
  CHECK(run(kMi355x, "v_cvt_pk_fp8_f32 v4, v2, v3") == 0x1122c038);
  CHECK(run(kMi355x, "v_cvt_pk_fp8_f32 v4, v2, v3 op_sel:[0,0,1]") == 0xc0383344);
  CHECK(run(kMi300x, "v_cvt_pk_fp8_f32 v4, v2, v3") == 0x1122c840);
  CHECK(run(kMi355x, "v_cvt_pk_f32_fp8 v[4:5], v7") == 0x3f80000040000000);
  CHECK(run(kMi355x, "v_cvt_pk_f32_fp8_sdwa v[4:5], v7 src0_sel:WORD_1") == 0xbf8000003f800000);
  CHECK(run(kMi355x, "v_cvt_f32_fp8_sdwa v4, v7 src0_sel:BYTE_3") == 0xbf800000);
  CHECK(run(kMi355x, "v_cvt_scalef32_pk_bf16_fp8 v4, v7, 1.0") == 0x3f804000);
  CHECK(run(kMi355x, "v_cvt_scalef32_pk_bf16_fp8 v4, v7, 2.0 op_sel:[1,0,0]") == 0xc0004000);
  CHECK(run(kMi355x, "v_cvt_scalef32_pk_fp4_f32 v4, v2, v3, 1.0 op_sel:[0,0,1,0]") == 0x1122c244);
}

TEST_CASE("blocks of 32 six-bit elements go there and back") {
  Device device;
  const auto out = device.allocate<float>(64 * 32);
  // Element n of lane l is (n % 8) / 2, negative for odd lanes: exact in E2M3. Scale 2 on both ways.
  std::string body = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_and_b32 v1, 1, v0\n  v_lshlrev_b32 v1, 31, v1\n";
  for (int n = 0; n < 16; ++n) {
    body += fmt::format("  v_mov_b32 v{}, {:#x}\n  v_xor_b32 v{}, v1, v{}\n", 32 + n,
                        std::bit_cast<std::uint32_t>((2 * n % 8) / 2.0f), 32 + n, 32 + n);
    body += fmt::format("  v_mov_b32 v{}, {:#x}\n  v_xor_b32 v{}, v1, v{}\n", 48 + n,
                        std::bit_cast<std::uint32_t>(((2 * n + 1) % 8) / 2.0f), 48 + n, 48 + n);
  }
  body +=
      "  v_mov_b32 v3, 2.0\n  v_cvt_scalef32_2xpk16_fp6_f32 v[64:69], v[32:47], v[48:63], 2.0\n"
      "  v_cvt_scalef32_pk32_f32_fp6 v[4:35], v[64:69], v3\n  v_lshlrev_b32 v1, 7, v0\n  s_waitcnt lgkmcnt(0)\n";
  for (int n = 0; n < 32; n += 4)
    body += fmt::format("  global_store_dwordx4 v1, v[{}:{}], s[4:5] offset:{}\n", 4 + n, 7 + n, 4 * n);
  device.run({.body = body, .vgprs = 80}, {}, {out.address()});
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    for (std::uint32_t n = 0; n < 32; ++n) {
      const float want = static_cast<float>(n % 8) / 2;
      REQUIRE(out[32 * lane + n] == (lane % 2 != 0 ? -want : want));
    }
  }
}

}  // namespace
TEST_CASE("MODE's rounding has no say in an MFMA and is back in force behind it") {
  Device device(on(kMi355x));
  const auto out = device.allocate<float>(2);
  // 1 + 32 * 2^-30 and 1 + 2^-27: to nearest 1, upwards the next float.
  device.run({.body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
  v_mov_b32 v2, 0x38003800
  v_mov_b32 v3, v2
  v_mov_b32 v4, v2
  v_mov_b32 v5, v2
  v_mov_b32 v6, 1.0
  v_mov_b32 v7, 1.0
  v_mov_b32 v8, 1.0
  v_mov_b32 v9, 1.0
  s_nop 7
  v_mfma_f32_16x16x32_bf16 v[6:9], v[2:5], v[2:5], v[6:9]
  s_nop 15
  v_mov_b32 v10, 0x32000000
  v_add_f32 v7, 1.0, v10
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v1, v[6:7], s[4:5]
)",
              .agprs = 8},
             {}, {out.address()});
  REQUIRE(out[0] == 1.0f);
  REQUIRE(out[1] == 1.0f + 0x1p-23f);
}

}  // namespace monojit::emulator::test
