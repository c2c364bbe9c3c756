#include <memory>

#include "tools/commands/commands.h"
#include "tools/kernel_run.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

struct Options {
  std::string key;
  BuildFlags build;
  RunOptions run;
  bool json = false;
};

void run(Options& options) {
  const kernels::BuildKey key = kernels::BuildKey::parse(options.key);
  options.run.arch = options.build.arch;
  const auto jit = make_jit(options.build);
  const RunResult result = run_kernel(*jit, key, options.run);
  if (options.json) {
    print_json(to_json(result));
  } else {
    print_text(result);
  }
  if (!result.verified) throw Failed();
}

}  // namespace

void add_run(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("run",
                                          "Build a kernel or find it in the cache, launch it on seeded data and "
                                          "compare every output with the host reference");
  command.add_option("KEY", options->key, "e.g. 'minimax_m3.k1{tokens=1,index_heads=1}'")->required();
  command.add_option("--device", options->run.device, "auto, hip, hip:N, emulator or emulator:N")
      ->capture_default_str();
  command.add_option("--seed", options->run.seed, "of the generated tensors")->capture_default_str();
  command.add_option("--inputs", options->run.inputs,
                     "safetensors file whose tensors replace generated ones by argument name");
  command.add_option("--save", options->run.save,
                     "safetensors file to write: tensors before the launch as in/NAME, after it as NAME");
  add_build_flags(command, options->build);
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { run(*options); });
}

}  // namespace monojit::tools
