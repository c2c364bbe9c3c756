#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/commands/commands.h"
#include "tools/kernel_run.h"
#include "tools/output_file.h"
#include "tools/session.h"
#include "tools/stages.h"

namespace monojit::tools {
namespace {

struct Stage {
  const char* name;
  const char* suffix;  ///< of the file
  std::string (*text)(const runtime::Compiled&);
  bool runtime::StageRequest::* request = nullptr;              ///< what the compiler is asked for, if anything
  std::string (*key_text)(const kernels::BuildKey&) = nullptr;  ///< instead: of a stage that takes no build
};

std::string resources_of(const runtime::Compiled& built) {
  Json json = resources_json(built.kernel.record.resources);
  json["kernarg_bytes"] = built.kernel.record.kernarg_bytes;
  for (const auto& [name, count] : built.instructions) json["instructions"][name] = count;
  json["warnings"] = built.kernel.record.warnings;
  return json.dump(2) + '\n';
}

std::string layout_of(const kernels::BuildKey& key) {
  const kernels::Family& family = key.family();
  if (family.layout == nullptr) throw UserError(fmt::format("--emit=layout: {} has no layout of its own", family.name));
  return kernels::layout_text(family.layout(key));
}

constexpr const char* kStageNames = "ir, opt-ir, isa, metadata, resources and layout";
constexpr Stage kStages[] = {
    {"ir", ".ll", [](const runtime::Compiled& built) { return built.stages.emitted_ir; },
     &runtime::StageRequest::emitted_ir},
    {"opt-ir", ".opt.ll", [](const runtime::Compiled& built) { return built.stages.optimised_ir; },
     &runtime::StageRequest::optimised_ir},
    {"isa", ".s", [](const runtime::Compiled& built) { return built.stages.isa; }, &runtime::StageRequest::isa},
    {"metadata", ".metadata.yaml", [](const runtime::Compiled& built) { return built.stages.metadata; },
     &runtime::StageRequest::metadata},
    {"resources", ".resources.json", resources_of},
    {"layout", ".layout.txt", nullptr, nullptr, layout_of},
};

struct Options {
  std::string key;
  std::vector<std::string> emit = {"isa"};
  std::string folder;
  BuildFlags build;
  bool json = false;
};

/// The parts of lists with commas, empty ones too.
std::vector<std::string> parts(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (const auto part : std::views::split(list, ',')) names.emplace_back(part.begin(), part.end());
  }
  return names;
}

std::vector<Stage> chosen(const std::vector<std::string>& lists) {
  std::vector<Stage> stages;
  for (const std::string& name : parts(lists)) {
    if (name.empty()) {
      throw UserError(fmt::format("--emit: a name is missing beside a comma; stages are {}", kStageNames));
    }
    const auto* const found = std::ranges::find(kStages, name, &Stage::name);
    if (found == std::end(kStages)) {
      throw UserError(fmt::format("--emit={}: no such stage; stages are {}", name, kStageNames));
    }
    stages.push_back(*found);
  }
  return stages;
}

std::string write(const std::filesystem::path& folder, const std::string& symbol, const Stage& stage,
                  const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path file = folder / (symbol + stage.suffix);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  replace_file(file, {&bytes, 1});
  return file.string();
}

/// What the stages are made from; nothing when none of them takes a build.
std::optional<BuiltStages> built_stages(const kernels::BuildKey& key, const std::string& arch,
                                        const std::vector<Stage>& stages, const BuildFlags& flags) {
  if (std::ranges::all_of(stages, [](const Stage& stage) { return stage.text == nullptr; })) return std::nullopt;
  runtime::StageRequest request;
  for (const Stage& stage : stages) {
    if (stage.request != nullptr) request.*stage.request = true;
  }
  return obtain_stages(key, arch, flags, request);
}

void dump(const Options& options) {
  const kernels::BuildKey key = kernels::BuildKey::parse(options.key);
  const std::vector<Stage> stages = chosen(options.emit);
  const std::string arch = build_arch(options.build);
  kernels::validate(key, arch);
  const std::optional<BuiltStages> built = built_stages(key, arch, stages, options.build);
  const std::string symbol = key.symbol();

  Json json = {{"key", key.text()}, {"arch", arch}, {"symbol", symbol}, {"cache", nullptr}};
  if (built) json["cache"] = cache::name(built->source);
  for (const Stage& stage : stages) {
    const std::string text = stage.text != nullptr ? stage.text(built->compiled) : stage.key_text(key);
    if (!options.folder.empty()) {
      const std::string file = write(options.folder, symbol, stage, text);
      json["files"][stage.name] = file;
      if (!options.json) print("{}\n", file);
    } else {
      json["stages"][stage.name] = text;
      if (!options.json) print("{}{}", stages.size() > 1 ? fmt::format("==== {}\n", stage.name) : "", text);
    }
  }
  if (options.json) print_json(json);
}

}  // namespace

void add_dump(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("dump", "Show what each stage of a kernel's build made of it");
  command.add_option("KEY", options->key, "e.g. 'minimax_m3.k1{tokens=1,index_heads=1}'")->required();
  command
      .add_option("--emit", options->emit, "stages, separated by commas: ir, opt-ir, isa, metadata, resources, layout")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->capture_default_str();
  command.add_option("-o,--output", options->folder, "folder to write a file a stage to (default: all to stdout)")
      ->check(not_empty());
  add_arch_flag(command, options->build.arch);
  add_cache_folder_flag(command, options->build.cache_folder);
  command.add_flag("--no-cache", options->build.no_cache, "build anew and store nothing");
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { dump(*options); });
}

}  // namespace monojit::tools
