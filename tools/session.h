#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "kernels/common/family.h"
#include "runtime/jit.h"

/// What the subcommands that build kernels share: flags, the arch, the device, the Jit.
namespace monojit::tools {

struct BuildFlags {
  std::string arch;          ///< empty: the device's
  std::string cache_folder;  ///< empty: the user's
  bool no_cache = false;
  bool strict = false;
};

/// --arch, --cache-dir, --no-cache, --strict
void add_build_flags(CLI::App& command, BuildFlags& flags);
/// --arch
void add_arch_flag(CLI::App& command, std::string& arch);
/// --arch, any number of them
void add_archs_flag(CLI::App& command, std::vector<std::string>& archs);
/// --cache-dir
void add_cache_folder_flag(CLI::App& command, std::string& folder);

/// Refuses an option's empty value.
CLI::Validator not_empty();

/// Why no kernels can be built for `name`; empty for an arch.
std::string arch_problem(const std::string& name);

/// All of `text` as a decimal number, if it is one that T holds.
template <std::integral T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The option's value: a decimal number of `least` to `most`; anything else is refused.
std::uint64_t decimal(const char* option, const std::string& text, std::uint64_t least, std::uint64_t most);

/// A message about the cache folder; its advice to set MONOJIT_CACHE_DIR becomes one to set --cache-dir where that flag
/// was given.
std::string cache_advice(std::string text, const std::string& flag);

/// The folder that the flag names, else the user's; empty when there is neither.
std::filesystem::path cache_folder(const std::string& flag);

/// A Jit with these flags, whose warnings go to stderr.
std::unique_ptr<runtime::Jit> make_jit(const BuildFlags& flags);

/// The arch to build for where no device is needed: the flag's, else the first AMD GPU's, else gfx950.
std::string build_arch(const BuildFlags& flags);

/// The device to run on. `arch`, when given, is what it has to be: the emulator becomes that chip, another device is
/// refused.
runtime::Device open_device(const std::string& device, const std::string& arch);

/// Keys of the command line; throws UserError for the first that is none.
std::vector<kernels::BuildKey> parse_keys(const std::vector<std::string>& texts);

/// Milliseconds since a point in time.
class Stopwatch {
 public:
  double ms() const { return std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace monojit::tools
