#include "runtime/jit.h"

#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runtime/compiler/compiler_loader.h"
#include "runtime/entry_check.h"
#include "runtime/hip/device_error.h"
#include "toolchain_id.h"

namespace monojit::runtime {
namespace {

/// Thrown by a build that found another LLVM or comgr than the key names: the kernel may be cached under the real one.
struct ToolchainDiffers {};

cache::CacheOptions cache_options(const JitOptions& options) {
  return {.folder = options.cache_folder,
          .warn = options.warn,
          .strict = options.strict,
          .settings = options.cache_settings,
          .wait = {.say = options.progress,
                   .interrupt = options.interrupt,
                   .next = options.patience.next,
                   .longest = options.longest_wait}};
}

/// Both must live as long as the check.
cache::EntryCheck check_of(const kernels::BuildKey& key, const std::string_view& arch) {
  return [&key, &arch](const cache::Entry& entry) { return entry_problem(key, arch, entry); };
}

}  // namespace

Jit::Jit(JitOptions options)
    : strict_(options.strict),
      warn_(options.warn),
      progress_(options.progress),
      patience_(options.patience),
      cache_(cache_options(options)),
      builder_(std::move(options.builder)),
      toolchain_(kPinnedToolchain) {}

std::size_t Jit::Hash::operator()(const Probe& probe) const {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  std::uint64_t hash =
      std::hash<std::string_view>()(probe.arch) ^ reinterpret_cast<std::uintptr_t>(&probe.key.family());
  for (const std::int64_t value : probe.key.values())
    hash = (hash ^ hash >> 32 ^ static_cast<std::uint64_t>(value)) * kFactor;
  return hash;
}

Obtained Jit::get(const kernels::BuildKey& key, std::string_view arch) {
  if (auto kernel = find(key, arch)) {
    counts_.memory_hits.fetch_add(1, std::memory_order_relaxed);
    return {.kernel = std::move(kernel)};
  }
  kernels::validate(key, arch);
  try {
    return obtain(key, arch);
  } catch (const RecordError& error) {
    warn(fmt::format("the cached {} for {} is unusable ({}): building it anew", key.text(), arch, error.what()));
    forget(key, arch);
    return obtain(key, arch);
  }
}

std::shared_ptr<const CompiledKernel> Jit::find(const kernels::BuildKey& key, std::string_view arch) const {
  const std::shared_lock lock(kernels_mutex_);
  const auto found = kernels_.find(Probe{key, arch});
  return found != kernels_.end() ? found->second : nullptr;
}

Obtained Jit::obtain(const kernels::BuildKey& key, std::string_view arch) {
  Obtained obtained;
  const cache::Hit hit = sealed_ ? look_up(key, arch) : look_up_or_build(key, arch, obtained);
  if (hit.source == cache::Source::kDisk) ++counts_.disk_reads;
  if (hit.source == cache::Source::kMemory) ++counts_.memory_hits;
  obtained.source = hit.source;
  obtained.stored = hit.stored;
  obtained.times_ms.store = hit.store_ms;
  obtained.times_ms.lookup += hit.lookup_ms;
  obtained.times_ms.wait += hit.wait_ms;
  auto kernel = std::make_shared<const CompiledKernel>(CompiledKernel{
      key, std::string(arch), record_from_json(hit.entry->metadata), {hit.entry, &hit.entry->code_object}});
  const std::unique_lock lock(kernels_mutex_);
  auto& kept = kernels_.try_emplace(Slot{key, std::string(arch)}, kernel).first->second;
  // Before a build, another thread may have put in what was dropped since.
  if (hit.source == cache::Source::kBuilt && kept->code_object != kernel->code_object) kept = std::move(kernel);
  obtained.kernel = kept;
  return obtained;
}

/// Of a sealed Jit: no lock of a build is taken.
cache::Hit Jit::look_up(const kernels::BuildKey& key, std::string_view arch) {
  if (std::optional<cache::Hit> hit = cache_.lookup(cache_key(key, arch), check_of(key, arch))) return *std::move(hit);
  refuse(key, arch);
}

cache::Hit Jit::look_up_or_build(const kernels::BuildKey& key, std::string_view arch, Obtained& obtained) {
  for (;;) {
    const cache::Key wanted = cache_key(key, arch);
    try {
      return cache_.get_or_build(wanted, [&] { return build(wanted, key, arch, obtained); }, check_of(key, arch));
    } catch (const ToolchainDiffers&) {
      continue;  // toolchain_ is the real one now
    } catch (const cache::MissError&) {
      refuse(key, arch);
    }
  }
}

cache::BuildOutput Jit::build(const cache::Key& cache_key, const kernels::BuildKey& key, std::string_view arch,
                              Obtained& obtained) {
  if (sealed_) refuse(key, arch);  // since this thread began to wait for its turn
  BuildWatch watch(progress_, fmt::format("{} for {}", key.text(), arch), patience_);
  watch.at("opening the compiler");
  KernelBuilder& compiler = builder();
  if (std::string real = compiler.toolchain(); real != cache_key.toolchain) {
    const std::scoped_lock lock(toolchain_mutex_);
    toolchain_ = std::move(real);
    throw ToolchainDiffers();
  }
  BuiltKernel built = compiler.build(key, arch, [&](std::string_view stage) { watch.at(stage); });
  ++counts_.builds;
  {
    const std::unique_lock lock(kernels_mutex_);
    built_.insert(cache_key.digest());
  }
  obtained.times_ms.emit = built.record.times_ms.emit;
  obtained.times_ms.codegen = built.record.times_ms.codegen;
  obtained.times_ms.link = built.record.times_ms.link;
  for (const std::string& warning : built.record.warnings) warn(fmt::format("{}: {}", key.text(), warning));
  return {to_json_text(built.record), std::move(built.code_object)};
}

cache::Key Jit::cache_key(const kernels::BuildKey& key, std::string_view arch) const {
  const kernels::Family& family = key.family();
  return {.family = std::string(family.name),
          .text = key.text(),
          .bytes = key.bytes(),
          .target = fmt::format("amdgcn-amd-amdhsa--{}", arch),
          .options = "",  // the code generator has none yet that a caller may set
          .generator = std::string(family.generator_digest),
          .toolchain = toolchain()};
}

KernelBuilder& Jit::builder() {
  const std::scoped_lock lock(builder_mutex_);
  if (builder_ == nullptr) builder_ = Compiler::open();
  return *builder_;
}

std::string Jit::toolchain() const {
  const std::scoped_lock lock(toolchain_mutex_);
  return toolchain_;
}

void Jit::forget(const kernels::BuildKey& key, std::string_view arch) {
  cache_.drop(cache_key(key, arch));
  const std::unique_lock lock(kernels_mutex_);
  if (const auto found = kernels_.find(Probe{key, arch}); found != kernels_.end()) kernels_.erase(found);
}

void Jit::warn(std::string_view text) const {
  if (warn_) {
    warn_(text);
  } else {
    fmt::print(stderr, "monojit: {}\n", text);
  }
}

}  // namespace monojit::runtime
