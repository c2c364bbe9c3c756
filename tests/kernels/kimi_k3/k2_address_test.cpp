#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/reference/addresses.h"

namespace monojit::kernels::kimi_k3 {
namespace {

/// The public permutation of a row-major matrix: [N / 16][K / 128][4][16][16 bytes], rows in the fourth.
std::int64_t permuted_weight_byte(int columns, int row, int column) {
  const int byte = column / 2;
  const int tile = byte / 64;  // 128 columns
  const int lane_group = byte % 64 / 16;
  const std::int64_t tiles = columns / 128;
  return ((((row / 16) * tiles + tile) * 4 + lane_group) * 16 + row % 16) * 16 + byte % 16;
}

TEST_CASE("FP4 weights lie in tiles of 16 rows and 128 columns, 16 bytes a lane") {
  for (const ExpertMatrix& matrix : {kGateUpMatrix, kDownMatrix}) {
    std::vector<int> seen(static_cast<std::size_t>(matrix.weight_bytes()), 0);
    bool same = true;
    for (int row = 0; row < matrix.rows; ++row) {
      for (int column = 0; column < matrix.columns; ++column) {
        const std::int64_t byte = matrix.weight_byte(row, column);
        same = same && byte == permuted_weight_byte(matrix.columns, row, column);
        ++seen[static_cast<std::size_t>(byte)];
      }
    }
    CHECK(same);
    bool twice = true;
    for (const int count : seen) twice = twice && count == 2;
    CHECK(twice);
  }
}

TEST_CASE("a lane's 16 bytes begin at the kernel's dword address") {
  // Specification §2.2: dword e * N * K / 8 + row group * 2 K + 256 step + 4 lane.
  for (const int lane : {0, 17, 63}) {
    const int row = lane % 16;
    const int block = lane / 16;
    CHECK(kGateUpMatrix.weight_byte(16 * 5 + row, 128 * 27 + 32 * block) == 4 * (5 * 7168 + 256 * 27 + 4 * lane));
    CHECK(kDownMatrix.weight_byte(16 * 223 + row, 128 * 2 + 32 * block) == 4 * (223 * 768 + 256 * 2 + 4 * lane));
  }
}

TEST_CASE("a scale lies in the dword and byte that the kernel reads") {
  // Specification §2.3.
  const auto kernel_byte = [](int row, int block, int pairs_a_row) {
    const int group = row / 16;
    const int step = block / 4;
    const std::int64_t dword = (((group / 2) * pairs_a_row + step / 2) * 4 + block % 4) * 16 + row % 16;
    return 4 * dword + (step % 2) * 2 + group % 2;
  };
  for (const ExpertMatrix& matrix : {kGateUpMatrix, kDownMatrix}) {
    std::vector<int> seen(static_cast<std::size_t>(matrix.scale_bytes()), 0);
    bool same = true;
    for (int row = 0; row < matrix.rows; ++row) {
      for (int block = 0; block < matrix.scale_columns; ++block) {
        same = same && matrix.scale_byte(row, block) == kernel_byte(row, block, matrix.scale_columns / 8);
        ++seen[static_cast<std::size_t>(matrix.scale_byte(row, block))];
      }
    }
    CHECK(same);
    bool once = true;
    for (const int count : seen) once = once && count == 1;
    CHECK(once);
  }
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
