#include <memory>

#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/kernel_run.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

struct Options {
  std::vector<std::string> keys;
  BuildFlags build;
  bool json = false;
};

Json to_json(const kernels::BuildKey& key, const runtime::Obtained& obtained) {
  const runtime::GetTimes& times = obtained.times_ms;
  return {
      {"key", key.text()},
      {"cache", cache::name(obtained.source)},
      {"times_ms", {{"emit", times.emit}, {"codegen", times.codegen}, {"link", times.link}, {"store", times.store}}},
      {"resources", resources_json(obtained.kernel->record.resources)}};
}

std::string line(const kernels::BuildKey& key, const runtime::Obtained& obtained) {
  const runtime::GetTimes& times = obtained.times_ms;
  if (obtained.source != cache::Source::kBuilt) return fmt::format("{}: there already", key.text());
  return fmt::format("{}: built in {:.1f} ms (emit {:.1f}, codegen {:.1f}, link {:.1f}), stored in {:.1f} ms",
                     key.text(), times.emit + times.codegen + times.link, times.emit, times.codegen, times.link,
                     times.store);
}

void warm(const Options& options) {
  const std::vector<kernels::BuildKey> keys = parse_keys(options.keys);
  const std::string arch = build_arch(options.build);
  for (const kernels::BuildKey& key : keys) kernels::validate(key, arch);
  const auto jit = make_jit(options.build);
  if (jit->disk() == nullptr) throw UserError("there is no cache to warm (set MONOJIT_CACHE_DIR, or use --cache-dir)");
  if (const auto problem = jit->disk()->problem()) throw UserError(cache_advice(*problem, options.build.cache_folder));

  Json list = Json::array();
  for (const kernels::BuildKey& key : keys) {
    const runtime::Obtained obtained = jit->get(key, arch);
    if (obtained.source == cache::Source::kBuilt && !obtained.stored) {
      throw std::runtime_error(fmt::format("{} was built, but could not be stored", key.text()));
    }
    if (!options.json) print("{}\n", line(key, obtained));
    list.push_back(to_json(key, obtained));
  }
  if (options.json) print_json({{"arch", arch}, {"folder", jit->disk()->folder().string()}, {"kernels", list}});
}

}  // namespace

void add_warm(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("warm", "Build kernels into the cache, so that nothing has to be compiled later");
  command.add_option("KEY", options->keys, "one or more keys")->required();
  add_arch_flag(command, options->build.arch);
  add_cache_folder_flag(command, options->build.cache_folder);
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { warm(*options); });
}

}  // namespace monojit::tools
