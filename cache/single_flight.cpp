#include "cache/single_flight.h"

#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace monojit::cache {
namespace {

/// The keys that this thread is at, innermost first.
struct Frame {
  const SingleFlight* owner;
  const Key* key;
  const Frame* outer;
};

thread_local const Frame* innermost = nullptr;

class Inside {
 public:
  Inside(const SingleFlight* owner, const Key& key) : frame_{owner, &key, innermost} { innermost = &frame_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { innermost = frame_.outer; }

 private:
  Frame frame_;
};

void refuse_recursion(const SingleFlight* owner, const Key& key) {
  for (const Frame* frame = innermost; frame != nullptr; frame = frame->outer) {
    if (frame->owner == owner && *frame->key == key) {
      throw std::logic_error(fmt::format("the build of {} asks for itself", describe(key)));
    }
  }
}

}  // namespace

bool SingleFlight::nested() { return innermost != nullptr && innermost->outer != nullptr; }

SingleFlight::Outcome SingleFlight::run(const Key& key, const Work& work) {
  refuse_recursion(this, key);
  std::promise<Value> promise;
  {
    std::unique_lock lock(mutex_);
    if (const auto found = flights_.find(key); found != flights_.end()) {
      const Flight flight = found->second;
      lock.unlock();
      if (innermost == nullptr) return {flight.get(), false};
      const Inside inside(this, key);
      return {work(), true};
    }
    flights_.emplace(key, promise.get_future().share());
  }
  return {lead(key, work, promise), true};
}

SingleFlight::Value SingleFlight::lead(const Key& key, const Work& work, std::promise<Value>& promise) {
  try {
    Value value;
    {
      const Inside inside(this, key);
      value = work();
    }
    land(key);
    promise.set_value(value);
    return value;
  } catch (...) {
    land(key);
    promise.set_exception(std::current_exception());
    throw;
  }
}

void SingleFlight::land(const Key& key) {
  const std::lock_guard lock(mutex_);
  flights_.erase(key);
}

}  // namespace monojit::cache
