#include "kernels/common/emit/emit_kernel.h"

#include <string>
#include <vector>

namespace monojit::kernels {

namespace {

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

std::unique_ptr<ir::Kernel> emit_kernel(const BuildKey& key, const ir::Target& target, Emitter emitter) {
  const Family& family = key.family();
  std::vector<ir::ArgumentSpec> arguments;
  for (const Argument& argument : family.arguments) {
    arguments.push_back({.name = argument.name,
                         .type = ir_type(argument.type),
                         .alignment = argument.alignment,
                         .written = argument.written});
  }
  const std::string symbol = key.symbol();
  const Launch launch = family.launch(key);
  const ir::KernelOptions options{.name = symbol,
                                  .target = target,
                                  .workgroup_size = launch.workgroup_size,
                                  .min_waves_per_eu = launch.min_waves_per_eu,
                                  .arguments = arguments};
  const ir::Loc here = ir::Loc::current();  // a debug line of the code: make_unique's own would be the library's
  auto kernel = std::make_unique<ir::Kernel>(options, here);
  emitter(*kernel, key);
  return kernel;
}

}  // namespace monojit::kernels
