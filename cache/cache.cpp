#include "cache/cache.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cache/folder.h"
#include "cache/other_versions.h"

namespace monojit::cache {
namespace {

/// Adds the milliseconds of its life to a total, also when that ends with an exception.
class Stopwatch {
 public:
  explicit Stopwatch(double& total_ms) : total_ms_(total_ms) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { total_ms_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double& total_ms_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

CacheOptions CacheOptions::for_user(WarningCallback warn) {
  const UserFolder folder = user_folder();
  if (folder.path.empty()) {
    Warnings(warn).once(
        "no folder",
        "no cache folder, as neither HOME nor XDG_CACHE_HOME is set: caching is off (set MONOJIT_CACHE_DIR)");
  }
  Settings settings = Settings::from_environment(Warnings(warn));
  return {.folder = folder.path, .warn = std::move(warn), .settings = std::move(settings)};
}

MissError::MissError(const Key& key)
    : std::runtime_error(fmt::format("{} is not in the cache, and strict mode builds nothing", describe(key))),
      key_text_(key.text),
      target_(key.target) {}

const char* name(Source source) {
  switch (source) {
    case Source::kBuilt:
      return "built";
    case Source::kDisk:
      return "disk";
    case Source::kReadOnly:
      return "read_only";
    case Source::kRemote:
      return "remote";
    case Source::kMemory:
      break;
  }
  return "memory";
}

Cache::Cache(CacheOptions options)
    : warnings_(std::move(options.warn)),
      strict_(options.strict),
      wait_(std::move(options.wait)),
      read_only_(std::move(options.settings.read_only), warnings_),
      remote_(options.settings.remote, warnings_),
      counters_(options.folder, options.settings.modes_in(options.folder)) {
  const StoreOptions store{.modes = options.settings.modes_in(options.folder), .limits = options.settings.limits};
  if (!options.folder.empty()) disk_.emplace(std::move(options.folder), warnings_, store);
}

std::optional<Hit> Cache::lookup(const Key& key, const EntryCheck& check) {
  Hit hit;
  hit.entry = memory_.find(key);
  if (!hit.entry) hit.entry = look_below_memory(key, hit, check);
  if (!hit.entry) {
    count_miss(key);
    return std::nullopt;
  }
  return hit;
}

bool Cache::contains(const Key& key) const {
  if (memory_.find(key) != nullptr || (disk_ && disk_->contains(key))) return true;
  return !was_dropped(key) && (read_only_.contains(key) || remote_.contains(key));
}

Hit Cache::get_or_build(const Key& key, const Builder& build, const EntryCheck& check) {
  Hit hit;
  hit.entry = memory_.find(key);
  if (hit.entry) return hit;
  if (strict_) {
    hit.entry = look_below_memory(key, hit, check);
    if (!hit.entry) {
      count_miss(key);
      throw MissError(key);
    }
    return hit;
  }
  hit.entry = flights_.run(key, [&] { return lead(key, build, hit); }).value;
  return hit;
}

void Cache::drop(const Key& key) {
  const std::shared_ptr<const Entry> held = memory_.find(key);
  {
    const std::lock_guard lock(dropped_mutex_);
    dropped_[key.digest()] = held;
  }
  if (disk_) {
    const auto on_disk = held ? disk_->lookup(key) : nullptr;
    if (!on_disk || *on_disk == *held) disk_->discard(key.digest());
  }
  memory_.erase(key);  // last: nobody looks on the disk before
}

bool Cache::was_dropped(const Key& key) const {
  const std::lock_guard lock(dropped_mutex_);
  return !dropped_.empty() && dropped_.contains(key.digest());
}

bool Cache::was_dropped(const Entry& entry) const {
  const std::lock_guard lock(dropped_mutex_);
  const auto found = dropped_.empty() ? dropped_.end() : dropped_.find(entry.key.digest());
  return found != dropped_.end() && found->second && *found->second == entry;
}

std::vector<std::string> Cache::other_versions(const Key& key) {
  std::vector<std::string> versions = read_only_.other_versions(key);
  if (!disk_) return versions;
  for (const Key& found : peek_keys(disk_->folder())) add_other_version(key, found, versions);
  return versions;
}

/// Keeps an entry of a tier below in memory.
std::shared_ptr<const Entry> Cache::found(std::shared_ptr<const Entry> entry, Source source, Count count, Hit& hit) {
  if (!entry) return nullptr;
  hit.source = source;
  counters_.add(entry->key.family, count);
  counters_.add(entry->key.family, Count::kBytesRead, entry->code_object.size());
  counters_.flush_when_due();
  return memory_.insert(std::move(entry));
}

std::shared_ptr<const Entry> Cache::look_on_disk(const Key& key, Hit& hit, const EntryCheck& check) {
  if (!disk_) return nullptr;
  const Stopwatch watch(hit.lookup_ms);
  auto entry = disk_->lookup(key);
  if (entry && was_dropped(*entry)) return nullptr;  // it could not be removed
  const auto name = [&] { return printable(disk_->file_of(key.digest()).native()); };
  if (entry && !passes(*entry, check, name, warnings_)) return nullptr;
  return found(std::move(entry), Source::kDisk, Count::kDiskHits, hit);
}

std::shared_ptr<const Entry> Cache::look_in_read_only(const Key& key, Hit& hit, const EntryCheck& check) {
  if (was_dropped(key)) return nullptr;
  const Stopwatch watch(hit.lookup_ms);
  return found(read_only_.lookup(key, check), Source::kReadOnly, Count::kReadOnlyHits, hit);
}

std::shared_ptr<const Entry> Cache::look_in_remote(const Key& key, Hit& hit, const EntryCheck& check) {
  if (was_dropped(key)) return nullptr;
  const Stopwatch watch(hit.lookup_ms);
  auto fetched = remote_.lookup(key);
  const auto name = [&] { return hex(key.digest()) + " of the remote cache"; };
  if (fetched && !passes(*fetched, check, name, warnings_)) return nullptr;
  auto entry = found(std::move(fetched), Source::kRemote, Count::kRemoteHits, hit);
  if (entry && disk_) hit.stored = disk_->store(*entry);
  if (hit.stored) counters_.add(key.family, Count::kBytesStored, entry->code_object.size());
  return entry;
}

std::shared_ptr<const Entry> Cache::look_below_memory(const Key& key, Hit& hit, const EntryCheck& check) {
  if (auto entry = look_on_disk(key, hit, check)) return entry;
  if (auto entry = look_in_read_only(key, hit, check)) return entry;
  return look_in_remote(key, hit, check);
}

void Cache::count_miss(const Key& key) {
  counters_.add(key.family, Count::kMisses);
  counters_.flush_when_due();
}

/// Held, or not worth waiting for.
FileLock Cache::lock(const Key& key, Hit& hit) const {
  const Stopwatch watch(hit.wait_ms);
  FileLock lock = disk_->lock(key, FileLock::Wait::kNever);
  if (lock.state() != FileLock::State::kBusy || SingleFlight::nested()) return lock;
  LockWait wait(wait_, disk_->lock_file(key), describe(key));
  while (lock.state() == FileLock::State::kBusy && wait.go_on()) lock = disk_->lock(key, FileLock::Wait::kNever);
  return lock;
}

/// Runs in one thread a key. Who comes after an earlier run finds its entry in memory.
std::shared_ptr<const Entry> Cache::lead(const Key& key, const Builder& build, Hit& hit) {
  if (auto entry = memory_.find(key)) return entry;
  if (auto entry = look_on_disk(key, hit)) return entry;
  if (auto entry = look_in_read_only(key, hit)) return entry;
  if (!disk_) {
    if (auto entry = look_in_remote(key, hit)) return entry;
    return build_and_store(key, build, hit);
  }

  const FileLock held = lock(key, hit);
  // Another process may have built it while we waited.
  if (auto entry = look_on_disk(key, hit)) return entry;
  if (auto entry = look_in_remote(key, hit)) return entry;
  return build_and_store(key, build, hit);
}

std::shared_ptr<const Entry> Cache::build_and_store(const Key& key, const Builder& build, Hit& hit) {
  BuildOutput output;
  counters_.add(key.family, Count::kMisses);
  {
    const Stopwatch watch(hit.build_ms);
    output = build();
  }
  auto entry = std::make_shared<const Entry>(Entry{key, std::move(output.metadata), std::move(output.code_object)});
  {
    const Stopwatch watch(hit.store_ms);
    const Digest digest = key.digest();
    const std::vector<std::byte> bytes = encode(*entry);
    if (disk_) hit.stored = disk_->store(digest, bytes);
    remote_.store(digest, bytes, was_dropped(key));
  }
  counters_.add(key.family, Count::kBuilds);
  if (hit.stored) counters_.add(key.family, Count::kBytesStored, entry->code_object.size());
  counters_.flush();
  hit.source = Source::kBuilt;
  return memory_.insert(std::move(entry));
}

}  // namespace monojit::cache
