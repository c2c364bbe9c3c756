#include "tests/ir/lane_program.h"

#include <llvm/IR/Module.h>

#include "codegen/build.h"
#include "tests/emulator/device.h"

namespace monojit::ir::test {

namespace {

constexpr ArgumentSpec kArguments[] = {
    {.name = "inputs", .alignment = 16, .written = false},
    {.name = "results", .alignment = 16},
};

codegen::Build build(const Target& target, int words, int threads, std::size_t& results, const LaneProgram& program) {
  Kernel kernel({.name = "lanes",
                 .target = target,
                 .workgroup_size = static_cast<std::uint32_t>(threads),
                 .arguments = kArguments});
  const auto in = kernel.argument<Ptr<Int32, Global>>("inputs");
  const auto out = kernel.argument<Ptr<Int32, Global>>("results");
  std::vector<Int32> inputs;
  inputs.reserve(static_cast<std::size_t>(words));
  for (int i = 0; i < words; ++i) inputs.push_back(load(in + (thread_id() + i * threads)));
  const std::vector<Int32> given = program(inputs);
  results = given.size();
  for (int i = 0; i < static_cast<int>(results); ++i) {
    store(out + (thread_id() + i * threads), given[static_cast<std::size_t>(i)]);
  }
  return codegen::compile(kernel.finish(), target);
}

}  // namespace

Words run_lanes(const Target& target, const Words& inputs, const LaneProgram& program) {
  const std::size_t threads = inputs.empty() ? 64 : inputs.front().size();
  std::size_t results = 0;
  const codegen::Build object =
      build(target, static_cast<int>(inputs.size()), static_cast<int>(threads), results, program);

  emulator::Settings settings;
  settings.chip = target.chip == Chip::kGfx950 ? emulator::kMi355x : emulator::kMi300x;
  emulator::test::Device device(settings);
  std::vector<std::uint32_t> words;
  for (const auto& row : inputs) words.insert(words.end(), row.begin(), row.end());
  words.resize(words.size() + 1);  // never an empty buffer
  const auto in = device.upload(words);
  const auto out = device.allocate<std::uint32_t>(results * threads + 1);
  std::ranges::fill(out.all(), 0xDEADBEEF);
  device.run_object(object.code_object, object.symbol, {.block = {static_cast<emulator::u32>(threads), 1, 1}},
                    {in.address(), out.address()});

  Words given(results);
  for (std::size_t i = 0; i < results; ++i) {
    given[i].assign(out.data + i * threads, out.data + (i + 1) * threads);
  }
  return given;
}

std::vector<std::uint32_t> run_lanes(const Target& target, const std::vector<std::uint32_t>& input,
                                     const std::function<Int32(const Int32&)>& program) {
  return run_lanes(target, Words{input},
                   [&](const std::vector<Int32>& words) { return std::vector<Int32>{program(words[0])}; })[0];
}

std::vector<std::uint32_t> sequence(std::uint32_t first, std::uint32_t step, std::size_t threads) {
  std::vector<std::uint32_t> values(threads);
  for (std::size_t i = 0; i < threads; ++i) values[i] = first + static_cast<std::uint32_t>(i) * step;
  return values;
}

std::vector<std::uint32_t> mapped(const std::vector<std::uint32_t>& input,
                                  const std::function<std::uint32_t(std::uint32_t)>& model) {
  std::vector<std::uint32_t> values;
  values.reserve(input.size());
  for (const std::uint32_t word : input) values.push_back(model(word));
  return values;
}

}  // namespace monojit::ir::test
