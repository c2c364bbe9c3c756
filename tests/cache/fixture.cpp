#include "tests/cache/fixture.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace monojit::cache::testing {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "monojit_cache_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp: no folder at " + name);
  path_ = name;
  set_mode(path_, 0755);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

WarningCallback WarningLog::callback() {
  return [this](std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  };
}

std::vector<std::string> WarningLog::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

std::string WarningLog::only() const {
  const auto all = lines();
  if (all.size() == 1) return all.front();
  return fmt::format("{} warnings: {}", all.size(), fmt::join(all, " | "));
}

CacheOptions in_folder(std::filesystem::path folder) { return {.folder = std::move(folder), .warn = {}}; }

std::string source_of(const std::optional<Hit>& hit) { return hit ? name(hit->source) : "a miss"; }

Key example_key(int number) {
  ByteWriter bytes;
  bytes.raw(std::as_bytes(std::span("tokens")));
  bytes.u64(static_cast<std::uint64_t>(number));
  return {.family = "minimax_m3.k1",
          .text = fmt::format("minimax_m3.k1{{tokens={}}}", number),
          .bytes = bytes.take(),
          .target = "amdgcn-amd-amdhsa--gfx950",
          .options = "",
          .generator = "a1b2c3",
          .toolchain = "llvm-22.1.8/comgr-3.0"};
}

Entry example_entry(int number, std::size_t code_bytes) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  Entry entry{
      .key = example_key(number), .metadata = R"({"vgpr":128})", .code_object = std::vector<std::byte>(code_bytes)};
  std::ranges::generate(entry.code_object, [&] { return static_cast<std::byte>(random()); });
  return entry;
}

BuildOutput example_output(int number, std::size_t code_bytes) {
  Entry entry = example_entry(number, code_bytes);
  return {std::move(entry.metadata), std::move(entry.code_object)};
}

int start_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("fork failed");
  if (process > 0) return process;
  int status = 1;
  try {
    status = body();
  } catch (const std::exception& error) {
    fmt::print(stderr, "child: {}\n", error.what());
  }
  ::_exit(status);
}

int wait_for_child(int process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int in_child(const std::function<int()>& body) { return wait_for_child(start_child(body)); }

std::vector<std::byte> read_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_bytes(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw std::runtime_error("can't write " + file.string());
}

void write_archive(const std::filesystem::path& file, const std::vector<PackedEntry>& entries) {
  write_bytes(file, encode_archive(entries));
}

void write_text(const std::filesystem::path& file, std::string_view text) {
  write_bytes(file, std::as_bytes(std::span(text)));
}

unsigned mode_of(const std::filesystem::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) throw std::runtime_error("no file " + file.string());
  constexpr unsigned kPermissions = 07777;
  return status.st_mode & kPermissions;
}

void set_mode(const std::filesystem::path& file, unsigned mode) {
  if (::chmod(file.c_str(), mode) != 0) throw std::runtime_error("can't change the mode of " + file.string());
}

std::size_t count_files(const std::filesystem::path& folder) {
  const std::filesystem::recursive_directory_iterator files(folder);
  return static_cast<std::size_t>(std::ranges::count_if(files, [](const auto& file) {
    return !file.is_directory() && file.path().filename() != "counters" && file.path().filename() != "trimmed";
  }));
}

}  // namespace monojit::cache::testing
