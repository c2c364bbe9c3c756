#include "tools/saved_run.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/kernel_run.h"
#include "tools/report.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

constexpr std::string_view kProgram = "monojit ";

/// Of a file's metadata.
struct SavedRun {
  std::string key;
  std::uint64_t seed = 0;
};

std::optional<SavedRun> saved_run(const std::filesystem::path& file) {
  const FileMetadata metadata = read_metadata(file);
  const auto value = [&](const char* name) {
    const auto found = metadata.find(name);
    return found == metadata.end() ? std::string() : found->second;
  };
  if (!value("release").starts_with(kProgram)) return std::nullopt;  // others may have a key and a seed, too
  const auto seed = whole_number<std::uint64_t>(value("seed"));
  if (!seed || value("key").empty())
    throw UserError(
        fmt::format("{}: its __metadata__ is of {}, but has no key and seed", file.string(), value("release")));
  return SavedRun{.key = value("key"), .seed = *seed};
}

}  // namespace

FileMetadata run_metadata(const std::string& key, const RunOptions& options, int ranks) {
  return {{"key", key},
          {"seed", std::to_string(options.seed)},
          {"layers", std::to_string(std::max(options.layers, 1))},
          {"repeat", std::to_string(options.repeat)},
          {"ranks", std::to_string(ranks)},
          {"release", fmt::format("{}{}", kProgram, MONOJIT_VERSION)}};
}

void follow_saved_run(const kernels::BuildKey& key, bool seed_given, RunOptions& options) {
  if (options.inputs.empty()) return;
  const std::optional<SavedRun> saved = saved_run(options.inputs);
  if (!saved) return;
  if (!saved->key.starts_with(fmt::format("{}{{", key.family().name)))
    throw UserError(fmt::format("{}: is of a run of {}, not of {}", options.inputs, saved->key, key.family().name));
  if (saved->key != key.text()) say(fmt::format("{} is of a run of {}", options.inputs, saved->key));
  if (!seed_given) {
    if (saved->seed != options.seed) say(fmt::format("--seed {}, as {} has it", saved->seed, options.inputs));
    options.seed = saved->seed;
  } else if (saved->seed != options.seed) {
    say(fmt::format("{} is of a run with --seed {}: what it lacks is made with --seed {}", options.inputs, saved->seed,
                    options.seed));
  }
}

}  // namespace monojit::tools
