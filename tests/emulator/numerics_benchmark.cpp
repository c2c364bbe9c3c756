// Speed of the matrix core's tiles, in CPU time: how many MFMAs a second one core does. The argument is the number of
// distinct columns of B; decode kernels repeat the last one.
#include <string>

#include <benchmark/benchmark.h>

#include "runtime/emulator/numerics/fp8.h"
#include "runtime/emulator/numerics/matrix.h"
#include "tests/emulator/numerics_support.h"

namespace monojit::emulator::numerics_test {
namespace {

enum class Data : std::uint8_t { kBf16, kE4M3, kF32, kAnyBits };

struct Case {
  const char* mnemonic;
  Data data;
  std::uint8_t a_format, b_format;  // f8f6f4 only
  int columns;
};

constexpr Case kCases[] = {
    {"v_mfma_f32_16x16x32_bf16", Data::kBf16, 0, 0, 16},
    {"v_mfma_f32_32x32x16_bf16", Data::kBf16, 0, 0, 32},
    {"v_mfma_f32_16x16x32_fp8_fp8", Data::kE4M3, 0, 0, 16},
    {"v_mfma_f32_32x32x16_fp8_fp8", Data::kE4M3, 0, 0, 32},
    {"v_mfma_f32_16x16x4_f32", Data::kF32, 0, 0, 16},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", Data::kAnyBits, 4, 4, 16},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", Data::kE4M3, 0, 0, 16},
};

struct Operands {
  alignas(64) std::uint32_t a[8 * kLanes], b[8 * kLanes], c[32 * kLanes], d[32 * kLanes], scale[kLanes];
};

/// Gaussian data as a quantised model's; C as large as a few products.
void fill(Operands& operands, Data data) {
  std::mt19937 engine(kSeed);
  std::normal_distribution<float> gaussian;
  const auto word = [&]() -> std::uint32_t {
    const std::uint32_t x = as_bits(gaussian(engine));
    if (data == Data::kF32) return x;
    if (data == Data::kBf16) return x >> 16 | (as_bits(gaussian(engine)) & 0xFFFF0000U);
    if (data == Data::kAnyBits) return static_cast<std::uint32_t>(engine());
    std::uint32_t codes = 0;
    for (int byte = 0; byte < 4; ++byte)
      codes = codes << 8 | numerics::encode_fp8<numerics::Fp8::kE4M3>(as_bits(100 * gaussian(engine)), true);
    return codes;
  };
  for (std::uint32_t& a : operands.a) a = word();
  for (std::uint32_t& b : operands.b) b = word();
  for (std::uint32_t& c : operands.c) c = as_bits(gaussian(engine) * (data == Data::kE4M3 ? 40000.0F : 4.0F));
  for (std::uint32_t& scale : operands.scale) scale = 0x7F7F7F7F;
}

void repeat_columns(std::uint32_t* rows, int count, int columns, int distinct) {
  for (int word = 0; word < count * kLanes; ++word)
    if (word > 0 && word % columns >= distinct) rows[word] = rows[word - 1];
}

void run_case(benchmark::State& state, const Case& what, MatrixModel model, HostIsa isa) {
  Operands operands{};
  fill(operands, what.data);
  const int distinct = static_cast<int>(state.range(0));
  repeat_columns(operands.b, 8, what.columns, distinct);
  repeat_columns(operands.c, 32, what.columns, distinct);
  const TileFunction tile = find_tile(what.mnemonic, Chip::kGfx950, model, isa);
  const bool scaled = std::string_view(what.mnemonic).starts_with("v_mfma_scale");
  TileArguments arguments{.a = operands.a, .b = operands.b, .c = operands.c, .d = operands.d};
  arguments.scale_a = arguments.scale_b = scaled ? operands.scale : nullptr;
  arguments.cbsz = what.a_format;
  arguments.blgp = what.b_format;
  for ([[maybe_unused]] const auto& step : state) {
    tile(arguments);
    benchmark::ClobberMemory();
  }
  state.counters["MFMA/s"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void register_cases() {
  for (const Case& what : kCases)
    for (const HostIsa isa : host_isas())
      for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain}) {
        if (what.a_format != what.b_format || (model == MatrixModel::kFmaChain && what.mnemonic[7] == 's')) continue;
        const std::string name = std::string(what.mnemonic) + (what.a_format == 4 ? "/fp4" : "") +
                                 (isa == HostIsa::kX86V4 ? "/v4" : "/v3") +
                                 (model == MatrixModel::kCdna3 ? "/cdna3" : "/chain");
        auto* registered = benchmark::RegisterBenchmark(
            name, [&what, model, isa](benchmark::State& state) { run_case(state, what, model, isa); });
        registered->Arg(what.columns)->Arg(8)->Arg(4)->Arg(1)->MinTime(0.2);
      }
}

}  // namespace
}  // namespace monojit::emulator::numerics_test

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  monojit::emulator::numerics_test::register_cases();
  benchmark::RunSpecifiedBenchmarks();  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the library owns the cases
  benchmark::Shutdown();
  return 0;
}
