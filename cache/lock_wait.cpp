#include "cache/lock_wait.h"

#include <thread>
#include <utility>

#include <fmt/format.h>

namespace monojit::cache {
namespace {

/// What a waiter may be late by.
constexpr std::chrono::milliseconds kPause(5);

}  // namespace

LockWait::LockWait(const WaitOptions& options, std::filesystem::path file, std::string wanted)
    : options_(options),
      file_(std::move(file)),
      wanted_(std::move(wanted)),
      deadline_(options.longest),
      next_line_(start_ + options.first) {}

bool LockWait::go_on() {
  if (options_.interrupt) options_.interrupt();
  const auto holder = read_holder(file_);
  if (holder && holder->is_stopped()) {
    say(fmt::format("{}, which builds {}, is stopped: going on without it", holder->text(), wanted_));
    return false;
  }
  if (deadline_.over()) {
    say(fmt::format("{} has not built {} in {} s: going on without it", holder_text(), wanted_,
                    std::chrono::duration<double>(options_.longest).count()));
    return false;
  }
  if (const auto now = Clock::now(); now >= next_line_) {
    say(fmt::format("waiting for {}, which builds {} ({:.1f} s so far)", holder_text(), wanted_,
                    std::chrono::duration<double>(now - start_).count()));
    next_line_ = now + options_.next;
  }
  std::this_thread::sleep_for(kPause);
  return true;
}

void LockWait::say(const std::string& text) const {
  if (options_.say) options_.say(text);
}

std::string LockWait::holder_text() const {
  const auto holder = read_holder(file_);
  return holder ? holder->text() : "another process";
}

}  // namespace monojit::cache
