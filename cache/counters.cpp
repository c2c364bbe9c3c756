#include "cache/counters.h"

#include <cerrno>
#include <charconv>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/inventory.h"
#include "cache/strays.h"
#include "cache/temp_file.h"

namespace monojit::cache {
namespace {

constexpr auto kPause = std::chrono::seconds(10);
/// Above this, whoever appends replaces the lines by their sums.
constexpr std::int64_t kLargeBytes = 64 << 10;
constexpr std::uint64_t kMaxBytes = 64 << 20;
/// Ends a line that was written whole.
constexpr std::string_view kComplete = ".";

/// The words of a text between blanks or line ends.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

void add_line(std::string_view line, CountTable& table) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() < 2 || words.back() != kComplete) return;
  auto& counts = table[std::string(words.front())];
  for (const std::string_view word : std::span(words).subspan(1, words.size() - 2)) {
    const std::size_t equals = word.find('=');
    std::uint64_t value = 0;
    if (equals == std::string_view::npos) continue;
    if (std::from_chars(word.data() + equals + 1, word.data() + word.size(), value).ec != std::errc()) continue;
    counts[std::string(word.substr(0, equals))] += value;
  }
}

CountTable parse(std::span<const std::byte> bytes) {
  CountTable table;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::string_view line : split(text, '\n')) add_line(line, table);
  return table;
}

/// A line end in front ends what a dead writer left.
std::string line_of(std::string_view family, const std::map<std::string, std::uint64_t>& counts) {
  std::string line = fmt::format("\n{}", family);
  for (const auto& [name, value] : counts) line += fmt::format(" {}={}", name, value);
  return fmt::format("{} {}\n", line, kComplete);
}

bool is_current(int descriptor, const std::filesystem::path& file, std::int64_t& size) {
  struct stat opened{};
  struct stat named{};
  if (::fstat(descriptor, &opened) != 0 || ::lstat(file.c_str(), &named) != 0) return false;
  size = opened.st_size;
  return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/// The file of the folder, opened, locked as `lock` says, and still the named one. Not valid when that can't be had
/// soon: nobody waits for a count.
Descriptor open_locked(const std::filesystem::path& file, int flags, unsigned mode, int lock, std::int64_t& size) {
  constexpr int kAttempts = 50;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Descriptor descriptor = open_own_file(file, flags, mode);
    if (!descriptor.valid()) return {};
    if (::flock(descriptor.get(), lock | LOCK_NB) == 0) {
      if (is_current(descriptor.get(), file, size)) return descriptor;
    } else if (errno != EWOULDBLOCK) {
      return is_current(descriptor.get(), file, size) ? std::move(descriptor) : Descriptor();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

void replace_by_sums(const std::filesystem::path& folder, const Modes& modes) {
  const auto file = folder / kCountersFile;
  std::int64_t size = 0;
  const Descriptor lock = open_locked(file, O_RDWR, 0, LOCK_EX, size);
  if (!lock.valid() || size <= kLargeBytes) return;
  std::string text;
  for (const auto& [family, counts] : Counters::read(folder)) text += line_of(family, counts);
  TempFile sums(folder / kTemporaryFolder, modes.file);
  if (sums.error() == 0) sums.publish(std::as_bytes(std::span(text)), file);
}

}  // namespace

Counters::Counters(std::filesystem::path folder, Modes modes) : folder_(std::move(folder)), modes_(modes) {}

Counters::~Counters() {
  try {
    flush();
  } catch (...) {  // NOLINT(bugprone-empty-catch): see the class
  }
}

void Counters::add(const std::string& family, Count count, std::uint64_t amount) {
  if (folder_.empty() || family.find_first_of(" \n") != std::string::npos) return;
  const std::lock_guard lock(mutex_);
  own_[family][static_cast<std::size_t>(count)] += amount;
}

void Counters::flush_when_due() {
  {
    const std::lock_guard lock(mutex_);
    if (Clock::now() - flushed_ < kPause) return;
  }
  flush();
}

void Counters::flush() {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    flushed_ = Clock::now();
    for (const auto& [family, values] : std::exchange(own_, {})) {
      std::map<std::string, std::uint64_t> counts;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != 0) counts[kCountNames[i]] = values[i];
      }
      if (!counts.empty()) text += line_of(family, counts);
    }
  }
  if (text.empty()) return;
  std::int64_t size = 0;
  {
    const Descriptor file =
        open_locked(folder_ / kCountersFile, O_WRONLY | O_APPEND | O_CREAT, modes_.file, LOCK_SH, size);
    if (!file.valid()) return;
    set_mode(file.get(), modes_.file);
    const SizeLimitSignal held_back;
    write_all(file.get(), std::as_bytes(std::span(text)));
  }
  if (size > kLargeBytes) replace_by_sums(folder_, modes_);
}

CountTable Counters::read(const std::filesystem::path& folder) {
  return parse(read_file(folder / kCountersFile, kMaxBytes).bytes);
}

int Counters::reset(const std::filesystem::path& folder) {
  const int error = remove_entry(folder / kCountersFile);
  return error == ENOENT ? 0 : error;
}

}  // namespace monojit::cache
