#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/commands/commands.h"
#include "tools/emulate/emulation.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

struct Options {
  std::string file;
  std::string grid = "1";
  std::string block;
  std::string arguments;
  std::string trace;
  std::string dynamic_lds = "0";
  bool list = false;
  bool json = false;
  // Of the emulator; empty: as its environment says.
  std::string memory, seed, threads, matrix, checks, limit;
  EmulateOptions emulate;
};

/// "X", "X,Y" or "X,Y,Z", each at least 1.
std::array<std::uint32_t, 3> sizes(const std::string& text, std::string_view option) {
  std::array<std::uint32_t, 3> xyz{1, 1, 1};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < xyz.size(); ++i) {
    const auto [read, error] = std::from_chars(at, end, xyz[i]);
    if (error != std::errc() || xyz[i] == 0 || (read != end && *read != ',')) break;
    if (read == end) return xyz;
    at = read + 1;
  }
  throw UserError(fmt::format("{}: '{}' is not X, X,Y or X,Y,Z with numbers of 1 to {}", option, text,
                              std::numeric_limits<std::uint32_t>::max()));
}

void list(const Options& options) {
  const CodeObject object = open_code_object(options.emulate.file);
  if (options.json) {
    print_json(to_json(object));
  } else {
    print_text(object);
  }
}

void emulate(Options& options) {
  options.emulate.file = options.file;
  if (options.list) return list(options);
  options.emulate.arguments = options.arguments;
  options.emulate.trace = options.trace;
  options.emulate.dynamic_lds =
      static_cast<std::uint32_t>(decimal("--lds", options.dynamic_lds, 0, std::numeric_limits<std::uint32_t>::max()));
  options.emulate.grid = sizes(options.grid, "--grid");
  if (!options.block.empty()) options.emulate.block = sizes(options.block, "--block");
  const auto setting = [&](const char* name, const std::string& value) {
    if (!value.empty()) options.emulate.settings.emplace_back(name, value);
  };
  setting("memory", options.memory);
  setting("seed", options.seed);
  setting("threads", options.threads);
  setting("matrix", options.matrix);
  setting("checks", options.checks);
  setting("limit", options.limit);
  const EmulateResult result = emulate(options.emulate);
  if (options.json) {
    print_json(to_json(options.emulate, result));
  } else {
    print_text(options.emulate, result);
  }
  for (const std::string& problem : result.problems) say(problem);
  if (result.mismatches() > 0 || !result.problems.empty()) throw Failed();
}

void add_launch_options(CLI::App& command, Options& options) {
  command.add_option("--kernel", options.emulate.kernel, "name of the kernel (default: the only one)")
      ->check(not_empty());
  command.add_option("--grid", options.grid, "workgroups: X, X,Y or X,Y,Z")->check(not_empty())->capture_default_str();
  command
      .add_option("--block", options.block,
                  "work-items of a workgroup: X, X,Y or X,Y,Z (default: what the kernel requires, else 64)")
      ->check(not_empty());
  command
      .add_option("--args", options.arguments,
                  "JSON file with the arguments, - for standard input (see docs/emulate.md)")
      ->check(not_empty());
  command.add_option("--lds", options.dynamic_lds, "bytes of dynamic LDS")->capture_default_str();
  command.add_flag("--cooperative", options.emulate.cooperative, "launch only if all workgroups are resident at once");
  command.add_option("--repeat", options.emulate.repeat, "launches, one after the other, on the same buffers")
      ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
}

void add_emulator_options(CLI::App& command, Options& options) {
  command.add_option("--memory", options.memory, "coherent or weak")->check(not_empty());
  command.add_option("--seed", options.seed, "of the order in which waves run: a number")->check(not_empty());
  command.add_option("--threads", options.threads, "of the host")->check(not_empty());
  command.add_option("--matrix", options.matrix, "model of the matrix core: cdna3, fma-chain or exact")
      ->check(not_empty());
  command.add_option("--checks", options.checks, "checks that a chip does not make, separated by commas")
      ->check(not_empty());
  command.add_option("--limit", options.limit, "seconds that a launch may take (default: as many as it wants)")
      ->check(not_empty());
}

}  // namespace

void add_emulate(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("emulate", "Run a kernel of any gfx950 or gfx942 code object on the emulator");
  command.add_option("FILE", options->file, "AMDGPU code object (ELF), or an offload bundle with one")
      ->required()
      ->check(not_empty());
  command.add_flag("--list", options->list, "show the kernels, their arguments and resources, and run nothing");
  add_launch_options(command, *options);
  add_emulator_options(command, *options);
  add_profile_flag(command, options->emulate.profile);
  command.add_option("--trace", options->trace, "file to write: what ran and waited when (JSON, for Perfetto)")
      ->check(not_empty());
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { emulate(*options); });
}

}  // namespace monojit::tools
