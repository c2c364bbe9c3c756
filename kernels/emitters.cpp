#include "kernels/emitters.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/bench/peak/emit.h"
#include "kernels/example/row_norm/emit.h"
#include "kernels/minimax_m3/k1/emit/program.h"

namespace monojit::kernels {

namespace {

struct Entry {
  std::string_view family;
  Emitter emitter;
};
constexpr Entry kEmitters[] = {
    {"bench.peak", bench::emit_peak},
    {"example.row_norm", example::emit_row_norm},
    {"minimax_m3.k1", minimax_m3::emit_k1},
};

ir::ArgumentType ir_type(ArgumentType type) {
  switch (type) {
    case ArgumentType::kPointer:
      return ir::ArgumentType::kPointer;
    case ArgumentType::kInt32:
      return ir::ArgumentType::kInt32;
    case ArgumentType::kInt64:
      return ir::ArgumentType::kInt64;
    case ArgumentType::kFloat32:
      break;
  }
  return ir::ArgumentType::kFloat32;
}

}  // namespace

Emitter find_emitter(const Family& family) {
  for (const Entry& entry : kEmitters) {
    if (entry.family == family.name) return entry.emitter;
  }
  throw UserError(fmt::format("{}: this build has no emitter for it", family.name));
}

std::unique_ptr<ir::Kernel> emit(const BuildKey& key, const ir::Target& target) {
  const Family& family = key.family();
  const Emitter emitter = find_emitter(family);
  std::vector<ir::ArgumentSpec> arguments;
  for (const Argument& argument : family.arguments) {
    arguments.push_back({.name = argument.name,
                         .type = ir_type(argument.type),
                         .alignment = argument.alignment,
                         .written = argument.written});
  }
  const std::string symbol = key.symbol();
  const Launch launch = family.launch(key);
  auto kernel = std::make_unique<ir::Kernel>(ir::KernelOptions{.name = symbol,
                                                               .target = target,
                                                               .workgroup_size = launch.workgroup_size,
                                                               .min_waves_per_eu = launch.min_waves_per_eu,
                                                               .arguments = arguments});
  emitter(*kernel, key);
  return kernel;
}

}  // namespace monojit::kernels
