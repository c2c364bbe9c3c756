#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cache/cache.h"
#include "runtime/build_watch.h"
#include "runtime/compiled_kernel.h"
#include "runtime/hip/device.h"
#include "runtime/kernel_builder.h"
#include "runtime/loaded_kernel.h"
#include "runtime/verdict.h"

namespace monojit::runtime {

struct JitOptions {
  std::filesystem::path cache_folder;   ///< of compiled kernels; empty: this process's memory alone
  bool strict = false;                  ///< never compile: a kernel that is not in the cache is a NotCachedError
  cache::Settings cache_settings = {};  ///< limits, permissions, tiers below the folder
  Report warn;                          ///< receives one line a problem, from any thread; none: stderr
  /// Receives what a long build is at, and for which process this one waits, from any thread; none: nothing is said.
  Report progress = {};
  Patience patience = {};                ///< when `progress` hears
  std::function<void()> interrupt = {};  ///< called while waiting for another process; what it throws ends the wait
  /// For another process that builds what is wanted; then it is built here, too.
  std::chrono::milliseconds longest_wait = cache::WaitOptions().longest;
  std::shared_ptr<KernelBuilder> builder;  ///< none: libmonojit_codegen.so, opened by the first kernel to be built
};

/// The kernel is not in the cache, and nothing may be compiled.
class NotCachedError : public UserError {
 public:
  /// `reason` says why nothing is compiled.
  NotCachedError(std::string key, std::string arch, std::string command, const std::filesystem::path& folder,
                 std::string_view reason);
  const std::string& key() const { return key_; }  ///< canonical text
  const std::string& arch() const { return arch_; }
  /// The shell command that puts the kernel where this Jit looks for it.
  const std::string& command() const { return command_; }

 private:
  std::string key_;
  std::string arch_;
  std::string command_;
};

/// The same after Jit::seal().
class SealedError : public NotCachedError {
 public:
  using NotCachedError::NotCachedError;
};

/// Some keys could not be warmed; the text has a line a key. The others are ready.
class WarmError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a Jit has done since it was made.
struct JitCounters {
  std::uint64_t builds = 0;        ///< that ended well
  std::uint64_t disk_reads = 0;    ///< kernels read from disk
  std::uint64_t memory_hits = 0;   ///< kernels that were there already
  std::uint64_t module_loads = 0;  ///< kernels loaded on a device
  std::uint64_t refusals = 0;      ///< kernels that would have had to be compiled, in strict mode or after seal()
  bool operator==(const JitCounters&) const = default;
};

/// Strict mode, and another release's kernel of this key is there: it was warmed, but not by this build. Says by which.
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
  /// in strict mode, SealedError after seal(), and what the builder throws.
  Obtained get(const kernels::BuildKey& key, std::string_view arch);

  /// The same, loaded on `device` and kept there for as long as this object lives; the second call for a device only
  /// looks it up. Throws what get() and LoadedKernel throw. A kernel of the cache that the device does not take is
  /// renewed. `obtained`, when given, receives where the kernel came from.
  std::shared_ptr<const LoadedKernel> prepare(const kernels::BuildKey& key, const Device& device,
                                              Obtained* obtained = nullptr);

  /// A kernel in place of one of get() that turned out unusable: dropped from the cache, with the warning `problem`,
  /// and built anew, whichever tier it came from; or what another thread or process built meanwhile. Nothing where that
  /// is no help: `kernel` was built by this object, or nothing may be built. Throws as get() does.
  std::optional<Obtained> renew(const CompiledKernel& kernel, std::string_view problem);

  /// Prepares all of `keys`, several at a time where the builder can (KernelBuilder::jobs()): the next launch of any of
  /// them compiles, reads and loads nothing. Keys that could not be prepared are reasons of the verdict.
  Verdict try_warm(std::span<const kernels::BuildKey> keys, const Device& device);

  /// The same. Throws WarmError once all were tried, when some could not be prepared.
  void warm(std::span<const kernels::BuildKey> keys, const Device& device);

  /// From now on, kernels that would have to be compiled are a SealedError, before any lock is taken. Those in the
  /// cache are served as before. There is no way back.
  void seal() { sealed_ = true; }

  /// Those of `keys` that get() would have to build. Cheap, for readiness probes: entries are found, not read. An entry
  /// that turns out to be damaged when it is read counts as there.
  std::vector<kernels::BuildKey> missing(std::span<const kernels::BuildKey> keys, std::string_view arch) const;
  bool contains(std::span<const kernels::BuildKey> keys, std::string_view arch) const;

  JitCounters counters() const;

  /// What the kernel's entry is stored under.
  cache::Key cache_key(const kernels::BuildKey& key, std::string_view arch) const;
  /// The shell command that puts the kernel into this Jit's cache.
  std::string warm_command(const kernels::BuildKey& key, std::string_view arch) const;

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
  struct Loading {
    std::mutex mutex;  ///< held while the kernel is loaded
    std::shared_ptr<const LoadedKernel> kernel;
  };
  struct Counts {
    std::atomic<std::uint64_t> builds = 0;
    std::atomic<std::uint64_t> disk_reads = 0;
    std::atomic<std::uint64_t> memory_hits = 0;
    std::atomic<std::uint64_t> module_loads = 0;
    std::atomic<std::uint64_t> refusals = 0;
  };

  std::shared_ptr<const CompiledKernel> find(const kernels::BuildKey& key, std::string_view arch) const;
  Obtained obtain(const kernels::BuildKey& key, std::string_view arch);
  cache::Hit look_up(const kernels::BuildKey& key, std::string_view arch);
  cache::Hit look_up_or_build(const kernels::BuildKey& key, std::string_view arch, Obtained& obtained);
  cache::BuildOutput build(const cache::Key& cache_key, const kernels::BuildKey& key, std::string_view arch,
                           Obtained& obtained);
  KernelBuilder& builder();
  bool has(const kernels::BuildKey& key, std::string_view arch) const;
  Verdict verdict(std::span<const kernels::BuildKey> keys, std::string_view arch, std::span<const Obtained> obtained,
                  std::vector<std::string> problems) const;
  [[noreturn]] void refuse(const kernels::BuildKey& key, std::string_view arch);
  void forget(const kernels::BuildKey& key, std::string_view arch);
  std::shared_ptr<const LoadedKernel> load(const Device& device, const std::shared_ptr<const CompiledKernel>& kernel);
  void warn(std::string_view text) const;

  bool strict_;
  std::atomic<bool> sealed_ = false;
  Report warn_;
  Report progress_;
  Patience patience_;
  Counts counts_;
  cache::Cache cache_;

  mutable std::shared_mutex kernels_mutex_;
  std::unordered_map<Slot, std::shared_ptr<const CompiledKernel>, Hash, Equal> kernels_;
  std::set<cache::Digest> built_;  // keys of the builds of this object

  std::shared_mutex loaded_mutex_;
  std::map<LoadKey, std::shared_ptr<Loading>> loaded_;

  std::mutex builder_mutex_;  // held while the compiler is opened, which takes long: no hit may want it
  std::shared_ptr<KernelBuilder> builder_;
  mutable std::mutex toolchain_mutex_;
  std::string toolchain_;
};

}  // namespace monojit::runtime
