#include "cache/lock_holder.h"

#include <charconv>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "cache/file.h"

namespace monojit::cache {
namespace {

constexpr std::uint64_t kMaxHolderBytes = 256;

/// Differs between starts of a machine, between machines, and between namespaces of process ids.
const std::string& process_space() {
  static const std::string space = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string boot;
    std::getline(file, boot);
    std::error_code error;
    const auto processes = std::filesystem::read_symlink("/proc/self/ns/pid", error);
    return boot + '/' + processes.string();
  }();
  return space;
}

}  // namespace

std::string LockHolder::text() const {
  return fmt::format("process {}{}", process, is_here ? "" : " of another machine or container");
}

bool LockHolder::is_stopped() const {
  if (!is_here) return false;
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  // "4711 (name) T ...", and the name may hold anything.
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return false;
  const char state = line[name_end + 2];
  return state == 'T' || state == 't';
}

void write_holder(int descriptor) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), process_space());
  if (::ftruncate(descriptor, 0) == 0) (void)write_all(descriptor, std::as_bytes(std::span(text)));
}

std::optional<LockHolder> read_holder(const std::filesystem::path& file) {
  const FileBytes read = read_file(file, kMaxHolderBytes);
  const std::string_view text(reinterpret_cast<const char*>(read.bytes.data()), read.bytes.size());
  LockHolder holder;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), holder.process);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || holder.process <= 0 || !rest.starts_with(' ') || !rest.ends_with('\n')) {
    return std::nullopt;
  }
  holder.is_here = rest.substr(1, rest.size() - 2) == process_space();
  return holder;
}

}  // namespace monojit::cache
