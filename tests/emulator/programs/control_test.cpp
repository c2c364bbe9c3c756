// Control flow, private memory and calls, against the same source on the host.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/control_core.h"
#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kSeed = 25;

TEST_CASE("work-items interpret different byte codes") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kLength = 24, kItems = 192;
  // n!, a power, a polynomial, and one that never ends.
  const std::vector<std::vector<u8>> codes = {
      {1, 1, 8, 1, 7, 1, 7, 0, 3, 8, 1, 7, 0, 1, 1, 9, 5, 8, 0, 6, 16, 7, 1, 0},
      {7, 0, 5, 3, 5, 3, 100, 2, 7, 0, 4, 9, 0},
      {7, 0, 5, 5, 3, 3, 7, 0, 42, 3, 2, 1, 9, 2, 0},
      {1, 1, 5, 6, 3, 0},
  };
  std::vector<u8> bytes;
  for (std::vector<u8> code : codes) {
    code.resize(kLength, 0);
    bytes.insert(bytes.end(), code.begin(), code.end());
  }
  std::vector<i32> arguments(kItems);
  for (u32 i = 0; i < kItems; ++i) arguments[i] = static_cast<i32>(i / 4 % 12 + 1);
  const auto device_codes = program.upload(bytes);
  const auto device_arguments = program.upload(arguments), out = program.allocate<i32>(kItems);
  program.call("interpret_programs", {.block = {kItems, 1, 1}}, {device_codes, device_arguments, out, kLength});
  constexpr i32 kFactorialOf5 = 120;
  for (u32 i = 0; i < kItems; ++i) REQUIRE(out[i] == interpret(&bytes[i % 4 * kLength], arguments[i]));
  REQUIRE(out[4 * 4] == kFactorialOf5);
}

TEST_CASE("queens are placed with an explicit stack") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kQueens = 6, kPlacements = 4;
  const auto out = program.allocate<u32>(64);
  program.call("count_queens", {}, {out, i32{kQueens}});
  u32 sum = 0;
  for (u32 i = 0; i < kQueens; ++i) sum += out[i];
  REQUIRE(sum == kPlacements);
  for (u32 i = 0; i < 64; ++i) REQUIRE(out[i] == queens(kQueens, static_cast<int>(i % kQueens)));
}

TEST_CASE("lanes leave nested loops at different times") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const auto out = program.allocate<u32>(256);
  program.call("count_collatz", {.grid = {2, 1, 1}, .block = {128, 1, 1}}, {out});
  for (u32 i = 0; i < 256; ++i) REQUIRE(out[i] == collatz(i * 9 + 1));
}

TEST_CASE("the Mandelbrot set is drawn as on the host, with an incomplete last wave") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kWidth = 48, kHeight = 20, kLimit = 60;
  const auto out = program.allocate<u32>(kWidth * kHeight);
  program.call("draw_mandelbrot", {.grid = {3, 2, 1}, .block = {16, 10, 1}}, {out, kLimit});
  for (u32 y = 0; y < kHeight; ++y) {
    for (u32 x = 0; x < kWidth; ++x) {
      const float a = static_cast<float>(x) * 0.0625f - 2.0f, b = static_cast<float>(y) * 0.125f - 1.0f;
      REQUIRE(out[y * kWidth + x] == mandelbrot(a, b, kLimit));
    }
  }
}

TEST_CASE("functions are called with records by value and by address") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const auto out = program.allocate<u64>(128);
  program.call("mix_records", {.grid = {2, 1, 1}}, {out});
  for (u32 i = 0; i < 128; ++i) REQUIRE(out[i] == records(i * 77 + 5));
}

TEST_CASE("one pointer leads to LDS, private or global memory, lane by lane") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  std::vector<i32> in = random_bits<i32>(64, kSeed);
  for (i32& value : in) value %= 100000;
  const auto source = program.upload(in), out = program.allocate<i32>(64);
  program.call("any_memory", {}, {source, out, Argument::local(64 * 8 * sizeof(i32))});
  for (u32 item = 0; item < 64; ++item) {
    std::array<u32, 8> own{}, tile{};
    for (u32 i = 0; i < 8; ++i) {
      own[i] = static_cast<u32>(in[(item + i * 5) % 64]) * (i + 1);
      tile[i] = static_cast<u32>(in[item]) - i;
    }
    u32 sum = 0;
    for (u32 i = 0; i < 8; ++i) {
      sum = sum * 3 + (item % 3 == 0 ? own[i] : item % 3 == 1 ? tile[i] : static_cast<u32>(in[item % 50 + i]));
    }
    (item % 2 == 0 ? own : tile)[item % 8] = sum;
    REQUIRE(static_cast<u32>(out[item]) == sum + own[item % 8] * 7 + tile[item % 8] * 5);
  }
}

TEST_CASE("work-items know their place in a grid of three dimensions") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr std::array<u32, 3> kGrid{3, 2, 4}, kBlock{5, 6, 4};
  constexpr u32 kWidth = kGrid[0] * kBlock[0], kHeight = kGrid[1] * kBlock[1], kDepth = kGrid[2] * kBlock[2];
  const auto out = program.allocate<u32>(kWidth * kHeight * kDepth);
  program.call("places", {.grid = kGrid, .block = kBlock}, {out});
  for (u32 i = 0; i < out.count; ++i) {
    const u32 x = i % kWidth, y = i / kWidth % kHeight, z = i / kWidth / kHeight;
    const u32 group = (z / kBlock[2] * kGrid[1] + y / kBlock[1]) * kGrid[0] + x / kBlock[0];
    const u32 inside = (z % kBlock[2] * kBlock[1] + y % kBlock[1]) * kBlock[0] + x % kBlock[0];
    REQUIRE(out[i] == (group << 16 | inside << 4 | 3));
  }
}

TEST_CASE("arrays of LDS that the launch sizes lie behind the fixed ones") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kBlock = 96, kGroups = 3;
  const std::vector<u32> in = random_bits<u32>(kGroups * kBlock, kSeed);
  const auto source = program.upload(in), out = program.allocate<u32>(kGroups * kBlock);
  program.call("rotate_in_lds", {.grid = {kGroups, 1, 1}, .block = {kBlock, 1, 1}},
               {source, out, Argument::local(kBlock * sizeof(u32)), Argument::local(kBlock * sizeof(u64))});
  for (u32 i = 0; i < in.size(); ++i) {
    const u32* const own = &in[i / kBlock * kBlock];
    REQUIRE(out[i] == (own[(i + 1) % kBlock] ^ own[(i % kBlock + 3) % kBlock] << 4));
  }
}

TEST_CASE("blocks of private memory are copied, moved and filled") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kItems = 64, kBytes = 64;
  std::vector<u8> bytes = random_bits<u8>(kItems * kBytes, kSeed);
  const auto device = program.upload(bytes);
  program.call("copy_blocks", {}, {device});
  for (u32 item = 0; item < kItems; ++item) {
    u8 other[kBytes];
    const u8* const block = &bytes[item * kBytes];
    std::memset(other, 0xa5, kBytes);
    std::memcpy(other + 3, block + 8, 21);
    std::memmove(other + 10, other + 5, 40);
    for (u32 i = 0; i < kBytes; ++i) REQUIRE(device[item * kBytes + i] == (other[i] ^ block[(i * 11 + item) % kBytes]));
  }
}

TEST_CASE("cells live for some generations in LDS") {
  Program program("control", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kBoards = 2, kSide = 16, kGenerations = 12;
  std::vector<u8> cells = random_bits<u8>(kBoards * kSide * kSide, kSeed);
  for (u8& cell : cells) cell = cell % 3 == 0;
  const auto device = program.upload(cells);
  program.call("life", {.grid = {kBoards, 1, 1}, .block = {kSide, kSide, 1}}, {device, kGenerations});
  for (u32 g = 0; g < kGenerations; ++g) {
    const std::vector<u8> now = cells;
    for (u32 i = 0; i < cells.size(); ++i) {
      const u32 board = i / (kSide * kSide) * kSide * kSide, y = i / kSide % kSide, x = i % kSide;
      u32 neighbours = 0;
      for (u32 n = 0; n < 9; ++n) {
        if (n != 4)
          neighbours += now[board + (y + n / 3 + kSide - 1) % kSide * kSide + (x + n % 3 + kSide - 1) % kSide];
      }
      cells[i] = neighbours == 3 || (neighbours == 2 && now[i] != 0);
    }
  }
  for (u32 i = 0; i < cells.size(); ++i) REQUIRE(device[i] == cells[i]);
}

}  // namespace
}  // namespace monojit::emulator::test
