#include "runtime/jit.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/compiler/compiler_loader.h"
#include "runtime/hip/device_error.h"
#include "toolchain_id.h"

namespace monojit::runtime {
namespace {

constexpr std::size_t kShownDigits = 12;  // of a generator's digest, as other_versions() shows them

/// Thrown by a build that found another LLVM or comgr than the key names: the kernel may be cached under the real one.
struct ToolchainDiffers {};

cache::CacheOptions cache_options(const JitOptions& options) {
  return {.folder = options.cache_folder,
          .warn = options.warn,
          .strict = options.strict,
          .settings = options.cache_settings};
}

}  // namespace

Jit::Jit(JitOptions options)
    : strict_(options.strict),
      warn_(options.warn),
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
  if (auto kernel = find(key, arch)) return {.kernel = std::move(kernel)};
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
  const cache::Hit hit = look_up_or_build(key, arch, obtained);
  obtained.source = hit.source;
  obtained.stored = hit.stored;
  obtained.times_ms.store = hit.store_ms;
  obtained.times_ms.lookup += hit.lookup_ms;
  obtained.times_ms.wait += hit.wait_ms;
  auto kernel = std::make_shared<const CompiledKernel>(CompiledKernel{
      key, std::string(arch), record_from_json(hit.entry->metadata), {hit.entry, &hit.entry->code_object}});
  const std::unique_lock lock(kernels_mutex_);
  obtained.kernel = kernels_.try_emplace(Slot{key, std::string(arch)}, std::move(kernel)).first->second;
  return obtained;
}

cache::Hit Jit::look_up_or_build(const kernels::BuildKey& key, std::string_view arch, Obtained& obtained) {
  for (;;) {
    const cache::Key wanted = cache_key(key, arch);
    try {
      return cache_.get_or_build(wanted, [&] { return build(wanted, key, arch, obtained); });
    } catch (const ToolchainDiffers&) {
      continue;  // toolchain_ is the real one now
    } catch (const cache::MissError&) {
      refuse(wanted, key, arch);
    }
  }
}

/// Strict mode has no kernel.
void Jit::refuse(const cache::Key& wanted, const kernels::BuildKey& key, std::string_view arch) {
  const std::string folder = cache_.disk() != nullptr ? " " + cache_.disk()->folder().string() : "";
  const std::string advice =
      fmt::format("strict mode compiles nothing: run monojit warm '{}' --arch {}", key.text(), arch);
  const std::vector<std::string> others = cache_.other_versions(wanted);
  if (others.empty())
    throw NotCachedError(fmt::format("{} for {} is not in the cache{}, and {}", key.text(), arch, folder, advice));
  throw OtherVersionError(
      fmt::format("{} for {} is in the cache{} only of another release ({}; this is generator {}, {}), and {}",
                  key.text(), arch, folder, fmt::join(others, "; "),
                  std::string_view(wanted.generator).substr(0, kShownDigits), wanted.toolchain, advice));
}

cache::BuildOutput Jit::build(const cache::Key& cache_key, const kernels::BuildKey& key, std::string_view arch,
                              Obtained& obtained) {
  KernelBuilder& compiler = builder();
  if (std::string real = compiler.toolchain(); real != cache_key.toolchain) {
    const std::scoped_lock lock(builder_mutex_);
    toolchain_ = std::move(real);
    throw ToolchainDiffers();
  }
  BuiltKernel built = compiler.build(key, arch);
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
  const std::scoped_lock lock(builder_mutex_);
  return toolchain_;
}

void Jit::forget(const kernels::BuildKey& key, std::string_view arch) {
  cache_.drop(cache_key(key, arch));
  const std::unique_lock lock(kernels_mutex_);
  if (const auto found = kernels_.find(Probe{key, arch}); found != kernels_.end()) kernels_.erase(found);
}

std::shared_ptr<const LoadedKernel> Jit::prepare(const kernels::BuildKey& key, const Device& device,
                                                 Obtained* obtained) {
  Obtained got = get(key, device.arch());
  const auto refused = [&](const std::exception& error) {
    if (got.source == cache::Source::kBuilt || strict_) throw;
    warn(fmt::format("{} does not take the cached {} ({}): building it anew", device.text(), key.text(), error.what()));
    forget(key, device.arch());
    got = get(key, device.arch());
    return load(device, got.kernel);
  };
  std::shared_ptr<const LoadedKernel> loaded;
  try {
    loaded = load(device, got.kernel);
  } catch (const DeviceError& error) {
    loaded = refused(error);
  } catch (const CodeObjectError& error) {
    loaded = refused(error);
  }
  if (obtained != nullptr) *obtained = std::move(got);
  return loaded;
}

std::shared_ptr<const LoadedKernel> Jit::load(const Device& device,
                                              const std::shared_ptr<const CompiledKernel>& kernel) {
  const std::scoped_lock lock(loaded_mutex_);
  std::shared_ptr<const LoadedKernel>& loaded = loaded_[{device.table().get(), device.ordinal(), kernel.get()}];
  if (loaded == nullptr) loaded = std::make_shared<const LoadedKernel>(device, kernel);
  return loaded;
}

void Jit::warn(std::string_view text) const {
  if (warn_) {
    warn_(text);
  } else {
    fmt::print(stderr, "monojit: {}\n", text);
  }
}

}  // namespace monojit::runtime
