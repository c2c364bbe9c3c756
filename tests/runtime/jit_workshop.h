#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/jit.h"
#include "tests/runtime/tiny_kernel.h"
#include "toolchain_id.h"

namespace monojit::tests {

inline constexpr const char* kArch = "gfx950";

/// Builds the tiny kernel, counts how often, and can be held up.
class CountingBuilder : public runtime::KernelBuilder {
 public:
  std::string toolchain() override { return toolchain_text; }
  int jobs() const override { return jobs_worth; }

  runtime::BuiltKernel build(const kernels::BuildKey& key, std::string_view arch,
                             const runtime::StageCallback& on_stage) override {
    on_stage("counting");
    if (fails) throw std::runtime_error("the compiler says no");
    if (std::ranges::find(fails_for, key.value("workgroups")) != fails_for.end()) {
      throw std::runtime_error(fmt::format("{}: the compiler says no", key.text()));
    }
    std::unique_lock lock(mutex_);
    ++builds;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_ && builds >= gathers; });
    runtime::KernelRecord record = tiny_record();
    record.symbol = key.symbol();
    std::vector<std::byte> code = code_object.empty() ? runtime::hollow_image(arch, record) : code_object;
    code.resize(code.size() + more_bytes);
    return {record, std::move(code)};
  }

  /// Builds don't end until let_go().
  void hold() {
    const std::scoped_lock lock(mutex_);
    held_ = true;
    before_ = builds;
  }
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return builds > before_; });
  }
  void let_go() {
    const std::scoped_lock lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }

  std::string toolchain_text = std::string(kPinnedToolchain);
  std::vector<std::byte> code_object;  ///< of every kernel; empty: one that a device takes
  std::size_t more_bytes = 0;          ///< behind every code object
  std::atomic<int> builds = 0;
  bool fails = false;
  std::vector<std::int64_t> fails_for;  ///< sizes of the grid
  int jobs_worth = 1;
  int gathers = 0;  ///< builds end when so many have begun

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  int before_ = 0;
};

/// A cache folder of its own, and the warnings of the Jits made here.
class Workshop {
 public:
  Workshop() { std::filesystem::create_directories(folder); }
  ~Workshop() { std::filesystem::remove_all(folder); }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  runtime::JitOptions options(bool strict = false) const {
    runtime::JitOptions options;
    options.cache_folder = folder;
    options.strict = strict;
    options.warn = [this](std::string_view text) { warnings += std::string(text) + '\n'; };
    options.builder = builder;
    return options;
  }
  runtime::Jit jit(bool strict = false) const { return runtime::Jit(options(strict)); }
  std::filesystem::path only_entry() const {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      if (file.path().extension() == ".mono") return file.path();
    }
    return {};
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("monojit_jit_{}", getpid());
  std::shared_ptr<CountingBuilder> builder = std::make_shared<CountingBuilder>();
  mutable std::string warnings;
};

}  // namespace monojit::tests
