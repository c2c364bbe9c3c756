#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/dsl.h"

/// DSL programs run on the emulator, lane by lane.
namespace monojit::ir::test {

/// words[i][t] is word i of thread t.
using Words = std::vector<std::vector<std::uint32_t>>;
using LaneProgram = std::function<std::vector<Int32>(const std::vector<Int32>& inputs)>;

/// Runs `program` in one workgroup of as many threads as the inputs have (64 if there are none): it gets the thread's
/// words and gives words back.
Words run_lanes(const Target& target, const Words& inputs, const LaneProgram& program);

/// The same for programs of one word: [t] is what thread t gave.
std::vector<std::uint32_t> run_lanes(const Target& target, const std::vector<std::uint32_t>& input,
                                     const std::function<Int32(const Int32&)>& program);

/// first, first + step, ... of 64 threads.
std::vector<std::uint32_t> sequence(std::uint32_t first = 0, std::uint32_t step = 1, std::size_t threads = 64);
/// What `model` says of each input.
std::vector<std::uint32_t> mapped(const std::vector<std::uint32_t>& input,
                                  const std::function<std::uint32_t(std::uint32_t)>& model);

}  // namespace monojit::ir::test
