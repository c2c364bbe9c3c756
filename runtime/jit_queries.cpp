#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cache/file.h"
#include "cache/folder.h"
#include "runtime/jit.h"

// What a Jit tells of its cache and of itself.
namespace monojit::runtime {
namespace {

constexpr std::size_t kShownDigits = 12;  // of a generator's digest, as other_versions() shows them

/// With all but printable ASCII as octal numbers, which the printf of every POSIX shell puts back: a message stays one
/// line.
std::string escaped_shell_word(std::string_view text) {
  std::string word = "\"$(printf '";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code >= 0x7F || c == '\'' || c == '\\' || c == '%') {
      word += fmt::format("\\{:03o}", code);
    } else {
      word += c;
    }
  }
  if (text.ends_with('\n')) word += '/';  // of a folder: the shell would take line ends at the end away
  return word + "')\"";
}

/// As one word of a POSIX shell.
std::string shell_word(std::string_view text) {
  if (cache::printable(text) != text) return escaped_shell_word(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

/// What has to be done before the command can do its work; empty: nothing.
std::string first_step(const std::filesystem::path& folder) {
  const auto obstacle = folder.empty() ? std::nullopt : cache::obstacle_in(folder);
  if (!obstacle) return "";
  const std::string place = cache::printable(obstacle->place.native());
  const std::string why = obstacle->error == ENOTDIR
                              ? fmt::format("{} is a file", place)
                              : fmt::format("{} can't be written, {}", place, cache::error_text(obstacle->error));
  return fmt::format("; make the cache folder one that can be written ({}) or name another, then", why);
}

}  // namespace

NotCachedError::NotCachedError(std::string key, std::string arch, std::string command,
                               const std::filesystem::path& folder, std::string_view reason)
    : UserError(fmt::format("{} for {} is not in the cache{}, and {}{}: run {}", key, arch,
                            folder.empty() ? "" : " " + cache::printable(folder.native()), reason, first_step(folder),
                            command)),
      key_(std::move(key)),
      arch_(std::move(arch)),
      command_(std::move(command)) {}

bool Jit::has(const kernels::BuildKey& key, std::string_view arch) const {
  return find(key, arch) != nullptr || cache_.contains(cache_key(key, arch));
}

std::vector<kernels::BuildKey> Jit::missing(std::span<const kernels::BuildKey> keys, std::string_view arch) const {
  std::vector<kernels::BuildKey> absent;
  std::ranges::copy_if(keys, std::back_inserter(absent), [&](const auto& key) { return !has(key, arch); });
  return absent;
}

bool Jit::contains(std::span<const kernels::BuildKey> keys, std::string_view arch) const {
  return std::ranges::all_of(keys, [&](const auto& key) { return has(key, arch); });
}

JitCounters Jit::counters() const {
  return {.builds = counts_.builds,
          .disk_reads = counts_.disk_reads,
          .memory_hits = counts_.memory_hits,
          .module_loads = counts_.module_loads,
          .refusals = counts_.refusals};
}

std::string Jit::warm_command(const kernels::BuildKey& key, std::string_view arch) const {
  std::string command = fmt::format("monojit warm {} --arch {}", shell_word(key.text()), arch);
  // Without a folder, or with the user's own, the command finds the place by itself.
  const cache::DiskStore* const disk = cache_.disk();
  const std::filesystem::path own = cache::user_folder().path;
  if (disk != nullptr && disk->folder() != own) command += " --cache-dir " + shell_word(disk->folder().string());
  if (disk == nullptr && own.empty()) return "export MONOJIT_CACHE_DIR=\"$PWD/kernels\" && " + command;
  return command;
}

void Jit::refuse(const kernels::BuildKey& key, std::string_view arch) {
  ++counts_.refusals;
  const std::filesystem::path folder = cache_.disk() != nullptr ? cache_.disk()->folder() : "";
  const std::string command = warm_command(key, arch);
  if (sealed_) throw SealedError(key.text(), std::string(arch), command, folder, "nothing is compiled after seal()");
  const cache::Key wanted = cache_key(key, arch);
  const std::vector<std::string> others = cache_.other_versions(wanted);
  if (others.empty())
    throw NotCachedError(key.text(), std::string(arch), command, folder, "strict mode compiles nothing");
  throw OtherVersionError(
      key.text(), std::string(arch), command, folder,
      fmt::format("only of another release ({}; this is generator {}, {}); strict mode compiles nothing",
                  fmt::join(others, "; "), std::string_view(wanted.generator).substr(0, kShownDigits),
                  wanted.toolchain));
}

}  // namespace monojit::runtime
