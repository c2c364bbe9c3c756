#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cache/entry.h"
#include "cache/remote/url.h"
#include "cache/warnings.h"

namespace monojit::cache {

/// A store that machines share. Never throws: what goes wrong is said once and counts as a miss. A remote that is dead
/// costs its time limit once and is then left alone for kRest; so is one whose slow answers took kSlowLimits time
/// limits together, or that gives what is no entry. All of it may be used from any thread.
class RemoteTier {
 public:
  static constexpr std::chrono::seconds kRest{60};
  static constexpr int kSlowPart = 4;    ///< an answer is slow when it takes more than this part of the limit
  static constexpr int kSlowLimits = 3;  ///< that slow answers may take together, those with an entry aside
  static constexpr int kMostJunk = 2;    ///< answers in a row that are no entries

  /// `warnings` must outlive this object. A URL that means nothing is warned of: no remote then.
  RemoteTier(const std::string& url, const Warnings& warnings);
  RemoteTier(const RemoteTier&) = delete;
  RemoteTier& operator=(const RemoteTier&) = delete;
  ~RemoteTier();

  /// Verified as an entry of a folder is, or nullptr.
  std::shared_ptr<const Entry> lookup(const Key& key);
  /// Whether it says that it has something of this name: nobody looks at what.
  bool contains(const Key& key);
  /// Puts it there unless it is there already, or, with `replace`, in any case.
  void store(const Digest& digest, std::span<const std::byte> bytes, bool replace);

  struct State;  ///< outlives this object as long as an exchange that is overdue runs

 private:
  /// Runs `work`, which tells whether it brought an entry, in a thread of its own, so that nothing that it does can
  /// take longer than the limit. False: it failed or is overdue, or the remote is left alone.
  bool run(std::function<bool(State&)> work);
  void start(std::packaged_task<bool()> task);
  void reject(const Digest& digest, const std::string& why);
  void warn_left_alone(const std::string& why);
  void warn_refused(const std::string& why);

  const Warnings& warnings_;
  RemoteUrl url_;
  std::shared_ptr<State> state_;  ///< nullptr: no remote
  std::atomic<int> junk_in_a_row_ = 0;
  std::mutex damaged_mutex_;
  std::set<Digest> damaged_;  ///< what the remote gave and was no entry: to be replaced
};

}  // namespace monojit::cache
