#include "runtime/emulator/numerics/matrix.h"

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "runtime/emulator/numerics/matrix_scalar.h"
#include "runtime/emulator/numerics/matrix_shape.h"

namespace monojit::emulator {
namespace matrix {

using TileKernel = bool (*)(const TileArguments&);

// The kernels of tile_kernels.h, one build for each instruction set.
namespace isa_v3 {
TileKernel find_kernel(std::size_t shape, Chip chip, MatrixModel model);
}
namespace isa_v4 {
TileKernel find_kernel(std::size_t shape, Chip chip, MatrixModel model);
}

namespace {

constexpr int kLanes = 64;

/// A TileFunction carries no state, so each combination is a function of its own with its kernel looked up once.
template <std::size_t kShape, Chip kChip, MatrixModel kModel, HostIsa kIsa>
void run_tile(const TileArguments& arguments) {
  constexpr const TileShape& kTile = kTileShapes[kShape];
  static const TileKernel kKernel =
      kIsa == HostIsa::kX86V4 ? isa_v4::find_kernel(kShape, kChip, kModel) : isa_v3::find_kernel(kShape, kChip, kModel);
  if constexpr (kTile.a != Element::kF64 && kTile.a != Element::kF8f6f4) {
    if (arguments.cbsz != 0 || arguments.blgp != 0) [[unlikely]] {
      std::uint32_t a[kTile.input_rows() * kLanes];
      std::uint32_t b[kTile.input_rows() * kLanes];
      for (int r = 0; r < kTile.input_rows(); ++r)
        for (int lane = 0; lane < kLanes; ++lane) {
          a[kLanes * r + lane] = arguments.a[kLanes * r + broadcast_lane(lane, arguments.cbsz, arguments.abid)];
          b[kLanes * r + lane] = arguments.b[kLanes * r + patterned_lane(lane, arguments.blgp)];
        }
      TileArguments plain = arguments;
      plain.a = a;
      plain.b = b;
      plain.cbsz = plain.abid = plain.blgp = 0;
      run_tile<kShape, kChip, kModel, kIsa>(plain);
      return;
    }
  }
  if (kKernel != nullptr && kKernel(arguments)) return;
  scalar_tile(kTile, kChip, kModel, arguments);
}

struct TileSet {
  TileFunction function[2][3][2];  // chip, model, host instruction set
};

template <std::size_t kShape, Chip kChip, MatrixModel kModel>
constexpr void fill(TileSet& set) {
  auto& pair = set.function[static_cast<int>(kChip)][static_cast<int>(kModel)];
  pair[static_cast<int>(HostIsa::kX86V3)] = run_tile<kShape, kChip, kModel, HostIsa::kX86V3>;
  pair[static_cast<int>(HostIsa::kX86V4)] = run_tile<kShape, kChip, kModel, HostIsa::kX86V4>;
}

template <std::size_t kShape>
constexpr TileSet tile_set() {
  TileSet set{};
  constexpr unsigned kChips = kTileShapes[kShape].chips;
  if constexpr ((kChips & kOnGfx942) != 0) {
    fill<kShape, Chip::kGfx942, MatrixModel::kCdna3>(set);
    fill<kShape, Chip::kGfx942, MatrixModel::kFmaChain>(set);
    fill<kShape, Chip::kGfx942, MatrixModel::kExact>(set);
  }
  if constexpr ((kChips & kOnGfx950) != 0) {
    fill<kShape, Chip::kGfx950, MatrixModel::kCdna3>(set);
    fill<kShape, Chip::kGfx950, MatrixModel::kFmaChain>(set);
    fill<kShape, Chip::kGfx950, MatrixModel::kExact>(set);
  }
  return set;
}

struct TileTable {
  TileSet sets[kTileShapeCount];
};

template <std::size_t... kShapes>
constexpr TileTable make_table(std::index_sequence<kShapes...>) {
  return {{tile_set<kShapes>()...}};
}

constexpr TileTable kTiles = make_table(std::make_index_sequence<kTileShapeCount>{});

}  // namespace
}  // namespace matrix

TileFunction find_tile(std::string_view mnemonic, Chip chip, MatrixModel model, HostIsa isa) {
  for (std::size_t shape = 0; shape < matrix::kTileShapeCount; ++shape) {
    const matrix::TileShape& tile = matrix::kTileShapes[shape];
    if (mnemonic != tile.mnemonic && (tile.alias.empty() || mnemonic != tile.alias)) continue;
    return matrix::kTiles.sets[shape].function[static_cast<int>(chip)][static_cast<int>(model)][static_cast<int>(isa)];
  }
  return nullptr;
}

TileFunction find_tile(std::string_view mnemonic, Chip chip, MatrixModel model) {
  return find_tile(mnemonic, chip, model, best_host_isa());
}

bool host_has(HostIsa isa) {
  return isa == HostIsa::kX86V4 ? __builtin_cpu_supports("x86-64-v4") != 0 : __builtin_cpu_supports("x86-64-v3") != 0;
}

HostIsa best_host_isa() {
  if (host_has(HostIsa::kX86V4)) return HostIsa::kX86V4;
  if (host_has(HostIsa::kX86V3)) return HostIsa::kX86V3;
  throw std::runtime_error("the emulator needs a processor with AVX2, FMA and BMI (x86-64-v3)");
}

}  // namespace monojit::emulator
