#include "tools/session.h"

#include <cstdlib>
#include <ranges>
#include <system_error>

#include <fmt/format.h>

#include "cache/folder.h"
#include "environment/variables.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

constexpr const char* kDefaultArch = "gfx950";

CLI::Validator known_arch() { return {arch_problem, ""}; }

}  // namespace

std::string arch_problem(const std::string& name) {
  if (name == "gfx950" || name == "gfx942") return "";
  return fmt::format("kernels can't be built for '{}': use gfx950 or gfx942", name);
}

std::uint64_t decimal(const char* option, const std::string& text, std::uint64_t least, std::uint64_t most) {
  const auto value = whole_number<std::uint64_t>(text);
  if (!value || *value < least || *value > most) {
    throw UserError(fmt::format("{}: '{}' is no decimal number of {} to {}", option, text, least, most));
  }
  return *value;
}

CLI::Validator not_empty() {
  return {[](const std::string& value) { return std::string(value.empty() ? "must not be empty" : ""); }, ""};
}

void add_cache_folder_flag(CLI::App& command, std::string& folder) {
  command
      .add_option("--cache-dir", folder, "folder of compiled kernels (default: $MONOJIT_CACHE_DIR, else the user's)")
      ->check(not_empty());
}

void add_arch_flag(CLI::App& command, std::string& arch) {
  command.add_option("--arch", arch, "gfx950 or gfx942 (default: the device's; gfx950 where there is none)")
      ->check(known_arch());
}

void add_archs_flag(CLI::App& command, std::vector<std::string>& archs) {
  // CLI11 would drop an empty name between two of its delimiters.
  const auto take = [&archs](const std::vector<std::string>& lists) {
    for (const std::string& list : lists) {
      for (const auto part : std::views::split(list, ',')) {
        std::string arch(part.begin(), part.end());
        if (const std::string problem = arch_problem(arch); !problem.empty()) throw UserError("--arch: " + problem);
        archs.push_back(std::move(arch));
      }
      if (list.empty()) throw UserError("--arch: " + arch_problem(list));
    }
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--arch", take, "gfx950, gfx942 or both, with a comma (default: the device's; gfx950 without one)")
      ->allow_extra_args(false);
}

void add_build_flags(CLI::App& command, BuildFlags& flags) {
  add_arch_flag(command, flags.arch);
  add_cache_folder_flag(command, flags.cache_folder);
  command.add_flag("--no-cache", flags.no_cache, "build anew and store nothing");
  command.add_flag("--strict", flags.strict, "compile nothing: a kernel that is not in the cache is refused");
}

std::filesystem::path cache_folder(const std::string& flag) {
  if (flag.empty()) return cache::user_folder().path;
  std::error_code error;  // the working folder may be gone
  auto absolute = std::filesystem::absolute(flag, error);
  return error ? std::filesystem::path(flag) : absolute;
}

std::string cache_advice(std::string text, const std::string& flag) {
  const std::string kVariable = fmt::format("set {}", environment::name(environment::Id::kCacheDir));
  if (const auto at = text.rfind(kVariable); !flag.empty() && at != std::string::npos) {
    text.replace(at, kVariable.size(), "set --cache-dir");
  }
  return text;
}

std::unique_ptr<runtime::Jit> make_jit(const BuildFlags& flags) {
  if (flags.no_cache && flags.strict)
    throw UserError("--strict reads the cache alone: it can't be used with --no-cache");
  runtime::JitOptions options;
  options.strict = flags.strict;
  options.warn = [flag = flags.cache_folder](std::string_view text) { say(cache_advice(std::string(text), flag)); };
  options.progress = say;
  if (!flags.no_cache) {
    options.cache_folder = cache_folder(flags.cache_folder);
    options.cache_settings = cache::Settings::from_environment(cache::Warnings(options.warn));
    if (options.cache_folder.empty()) say("no cache folder: caching is off (set MONOJIT_CACHE_DIR)");
  }
  return std::make_unique<runtime::Jit>(std::move(options));
}

std::string build_arch(const BuildFlags& flags) {
  if (!flags.arch.empty()) return flags.arch;
  if (!runtime::may_have_gpu()) return kDefaultArch;
  try {
    return runtime::Device::open("hip", say).arch();
  } catch (const UserError&) {  // no usable GPU after all: building needs none
    return kDefaultArch;
  }
}

runtime::Device open_device(const std::string& device, const std::string& arch) {
  // Read by the emulator when it starts; a real device is what it is.
  if (!arch.empty()) setenv(environment::name(environment::Id::kEmulatorChip), arch.c_str(), 1);
  runtime::Device opened = runtime::Device::open(device, say);
  if (!arch.empty() && opened.arch() != arch) {
    throw UserError(
        fmt::format("--arch {}: {} is a {} (--device emulator can be either)", arch, opened.text(), opened.arch()));
  }
  return opened;
}

std::vector<kernels::BuildKey> parse_keys(const std::vector<std::string>& texts) {
  std::vector<kernels::BuildKey> keys;
  keys.reserve(texts.size());
  for (const std::string& text : texts) keys.push_back(kernels::BuildKey::parse(text));
  return keys;
}

}  // namespace monojit::tools
