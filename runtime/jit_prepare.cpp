#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/hip/device_error.h"
#include "runtime/jit.h"

// The part of Jit that has to do with devices.
namespace monojit::runtime {

std::shared_ptr<const LoadedKernel> Jit::prepare(const kernels::BuildKey& key, const Device& device,
                                                 Obtained* obtained) {
  Obtained got = get(key, device.arch());
  const auto refused = [&](const std::exception& error) {
    auto anew =
        renew(*got.kernel, fmt::format("{} does not take the cached {} ({})", device.text(), key.text(), error.what()));
    if (!anew) throw;
    got = *std::move(anew);
  };
  std::shared_ptr<const LoadedKernel> loaded;
  while (loaded == nullptr) {
    try {
      loaded = load(device, got.kernel);
    } catch (const DeviceError& error) {
      refused(error);
    } catch (const CodeObjectError& error) {
      refused(error);
    }
  }
  if (obtained != nullptr) *obtained = std::move(got);
  return loaded;
}

std::optional<Obtained> Jit::renew(const CompiledKernel& kernel, std::string_view problem) {
  if (strict_ || sealed_) return std::nullopt;
  bool dropped = false;
  {
    const std::unique_lock lock(kernels_mutex_);
    const auto found = kernels_.find(Probe{kernel.key, kernel.arch});
    if (found != kernels_.end() && found->second.get() == &kernel) {
      const cache::Key stored = cache_key(kernel.key, kernel.arch);
      if (built_.contains(stored.digest())) return std::nullopt;
      cache_.drop(stored);
      kernels_.erase(found);
      dropped = true;
    }
  }
  if (dropped) warn(fmt::format("{}: building it anew", problem));
  return get(kernel.key, kernel.arch);
}

std::shared_ptr<const LoadedKernel> Jit::load(const Device& device,
                                              const std::shared_ptr<const CompiledKernel>& kernel) {
  const LoadKey wanted{device.table().get(), device.ordinal(), kernel.get()};
  std::shared_ptr<Loading> loading;
  {
    const std::shared_lock lock(loaded_mutex_);
    if (const auto found = loaded_.find(wanted); found != loaded_.end()) loading = found->second;
  }
  if (loading == nullptr) {
    const std::scoped_lock lock(loaded_mutex_);
    loading = loaded_.try_emplace(wanted, std::make_shared<Loading>()).first->second;
  }
  // Each kernel has a lock of its own: one that is ready is not to wait for another that is loaded.
  const std::scoped_lock lock(loading->mutex);
  if (loading->kernel == nullptr) {
    loading->kernel = std::make_shared<const LoadedKernel>(device, kernel);
    ++counts_.module_loads;
  }
  return loading->kernel;
}

Verdict Jit::try_warm(std::span<const kernels::BuildKey> keys, const Device& device) {
  std::vector<std::string> problems(keys.size());
  std::vector<Obtained> obtained(keys.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < keys.size(); i = next++) {
      try {
        (void)prepare(keys[i], device, &obtained[i]);
      } catch (const std::exception& error) {
        problems[i] = error.what();
      }
    }
  };
  // Nothing that is there already is worth a thread, nor the opening of a compiler.
  const std::size_t to_build = sealed_ || strict_ ? 0 : missing(keys, device.arch()).size();
  const std::size_t jobs = to_build < 2 ? 1 : std::min(to_build, static_cast<std::size_t>(builder().jobs()));
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return verdict(keys, device.arch(), obtained, std::move(problems));
}

Verdict Jit::verdict(std::span<const kernels::BuildKey> keys, std::string_view arch, std::span<const Obtained> obtained,
                     std::vector<std::string> problems) const {
  Verdict verdict;
  verdict.toolchain = toolchain();
  std::vector<cache::Digest> key_digests;
  std::vector<cache::Digest> code_digests;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    key_digests.push_back(cache_key(keys[i], arch).digest());
    if (!problems[i].empty()) continue;
    code_digests.push_back(cache::digest_of(*obtained[i].kernel->code_object));
    switch (obtained[i].source) {
      case cache::Source::kBuilt:
        ++verdict.built;
        break;
      case cache::Source::kMemory:
        ++verdict.held;
        break;
      default:
        ++verdict.read;
    }
  }
  verdict.keys = cache::hex(cache::digest_of(std::as_bytes(std::span(key_digests))));
  verdict.code = cache::hex(cache::digest_of(std::as_bytes(std::span(code_digests))));
  std::erase(problems, "");
  verdict.reasons = std::move(problems);
  return verdict;
}

void Jit::warm(std::span<const kernels::BuildKey> keys, const Device& device) {
  const Verdict verdict = try_warm(keys, device);
  if (!verdict.ok()) throw WarmError(fmt::format("{}", fmt::join(verdict.reasons, "\n")));
}

}  // namespace monojit::runtime
