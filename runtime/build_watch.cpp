#include "runtime/build_watch.h"

#include <utility>

#include <fmt/format.h>

namespace monojit::runtime {

BuildWatch::BuildWatch(const Report& say, std::string what, const Patience& patience)
    : say_(say), what_(std::move(what)) {
  if (say_) thread_ = std::thread([this, patience] { run(patience); });
}

BuildWatch::~BuildWatch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void BuildWatch::at(std::string_view stage) {
  const std::scoped_lock lock(mutex_);
  stage_ = stage;
}

void BuildWatch::run(const Patience& patience) {
  std::unique_lock lock(mutex_);
  std::string plan = ": emit IR, optimise, generate code, link, check";
  for (auto pause = patience.first; !ended_.wait_for(lock, pause, [this] { return over_; }); pause = patience.next) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const std::string text = fmt::format("building {}{} ({:.1f} s so far, now {})", what_, plan, seconds, stage_);
    plan.clear();
    lock.unlock();  // the embedder's callback may take its time
    say_(text);
    lock.lock();
  }
}

}  // namespace monojit::runtime
