#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cache/entry.h"

namespace monojit::cache {

/// Threads that want the same key at the same time share one run of the work.
///
/// No deadlock: a thread that is inside some work never waits for another's. Should it want a key that another thread
/// is at, it does that work a second time; should it want the very key that it is at, that is a std::logic_error naming
/// the key.
class SingleFlight {
 public:
  using Value = std::shared_ptr<const Entry>;
  using Work = std::function<Value()>;

  struct Outcome {
    Value value;
    bool ran;  ///< this call ran the work; false: another thread's run gave the value
  };

  /// What the work throws goes to the caller and to all who wait; whoever comes after that runs the work again.
  Outcome run(const Key& key, const Work& work);

  /// True in work that was started from inside other work: it must not wait for other processes either.
  static bool nested();

 private:
  using Flight = std::shared_future<Value>;

  Value lead(const Key& key, const Work& work, std::promise<Value>& promise);
  void land(const Key& key);

  std::mutex mutex_;
  std::unordered_map<Key, Flight, KeyHash> flights_;
};

}  // namespace monojit::cache
