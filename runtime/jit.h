#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "cache/cache.h"
#include "runtime/compiled_kernel.h"
#include "runtime/hip/device.h"
#include "runtime/kernel_builder.h"
#include "runtime/loaded_kernel.h"

namespace monojit::runtime {

struct JitOptions {
  std::filesystem::path cache_folder;   ///< of compiled kernels; empty: this process's memory alone
  bool strict = false;                  ///< never compile: a kernel that is not in the cache is a NotCachedError
  cache::Settings cache_settings = {};  ///< limits, permissions, tiers below the folder
  Report warn;                          ///< receives one line a problem, from any thread; none: stderr
  std::shared_ptr<KernelBuilder>
      builder;  ///< none: libmonojit_codegen.so, opened by the first kernel that has to be built
};

/// Strict mode: the kernel is not in the cache. Names the key and the command that would put it there.
class NotCachedError : public UserError {
 public:
  using UserError::UserError;
};

/// The same, and another release's kernel of this key is there: it was warmed, but not by this build. Says by which.
class OtherVersionError : public NotCachedError {
 public:
  using NotCachedError::NotCachedError;
};

/// Milliseconds that one get() took, by stage. Stages that it didn't need are 0.
struct GetTimes {
  double emit = 0;
  double codegen = 0;
  double link = 0;
  double store = 0;   ///< to disk
  double lookup = 0;  ///< on disk: reading and verifying, or finding nothing
  double wait = 0;    ///< for another process that built the same key
};

/// A kernel and where it came from.
struct Obtained {
  std::shared_ptr<const CompiledKernel> kernel;
  cache::Source source = cache::Source::kMemory;
  bool stored = false;  ///< a new entry is on disk now
  GetTimes times_ms = {};
};

/// The way of a key: registry, cache, compiler, device. All of it may be used from any thread; a key is built once,
/// whoever asks for it at the same time, in this process or in others with the same cache folder.
class Jit {
 public:
  explicit Jit(JitOptions options);

  /// The kernel of `key` for `arch` ("gfx950"). Throws UserError when it can't be built for that arch, NotCachedError
  /// in strict mode, and what the builder throws.
  Obtained get(const kernels::BuildKey& key, std::string_view arch);

  /// The same, loaded on `device` and kept there for as long as this object lives; the second call for a device only
  /// looks it up. Throws what get() and LoadedKernel throw. A kernel of the cache that the device does not take is
  /// dropped from the cache, with a warning, and built anew, once. `obtained`, when given, receives where the kernel
  /// came from.
  std::shared_ptr<const LoadedKernel> prepare(const kernels::BuildKey& key, const Device& device,
                                              Obtained* obtained = nullptr);

  /// The toolchain that keys are looked up under: the one this build is pinned to, until a build found another.
  std::string toolchain() const;
  /// nullptr when kernels are kept in memory alone.
  cache::DiskStore* disk() { return cache_.disk(); }

 private:
  struct Slot {
    kernels::BuildKey key;
    std::string arch;
  };
  struct Probe {
    const kernels::BuildKey& key;
    std::string_view arch;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Probe& probe) const;
    std::size_t operator()(const Slot& slot) const { return (*this)(Probe{slot.key, slot.arch}); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Slot& a, const Slot& b) const { return a.key == b.key && a.arch == b.arch; }
    bool operator()(const Probe& a, const Slot& b) const { return a.key == b.key && a.arch == b.arch; }
    bool operator()(const Slot& a, const Probe& b) const { return a.key == b.key && a.arch == b.arch; }
  };
  /// Device table, ordinal, kernel.
  using LoadKey = std::tuple<const HipTable*, int, const CompiledKernel*>;

  std::shared_ptr<const CompiledKernel> find(const kernels::BuildKey& key, std::string_view arch) const;
  Obtained obtain(const kernels::BuildKey& key, std::string_view arch);
  cache::Hit look_up_or_build(const kernels::BuildKey& key, std::string_view arch, Obtained& obtained);
  [[noreturn]] void refuse(const cache::Key& wanted, const kernels::BuildKey& key, std::string_view arch);
  cache::BuildOutput build(const cache::Key& cache_key, const kernels::BuildKey& key, std::string_view arch,
                           Obtained& obtained);
  cache::Key cache_key(const kernels::BuildKey& key, std::string_view arch) const;
  KernelBuilder& builder();
  void forget(const kernels::BuildKey& key, std::string_view arch);
  std::shared_ptr<const LoadedKernel> load(const Device& device, const std::shared_ptr<const CompiledKernel>& kernel);
  void warn(std::string_view text) const;

  bool strict_;
  Report warn_;
  cache::Cache cache_;

  mutable std::shared_mutex kernels_mutex_;
  std::unordered_map<Slot, std::shared_ptr<const CompiledKernel>, Hash, Equal> kernels_;

  std::mutex loaded_mutex_;
  std::map<LoadKey, std::shared_ptr<const LoadedKernel>> loaded_;

  mutable std::mutex builder_mutex_;
  std::shared_ptr<KernelBuilder> builder_;
  std::string toolchain_;
};

}  // namespace monojit::runtime
