#include "tools/interruptible.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace monojit::tools {
namespace {

std::atomic<bool> came = false;
std::atomic<const char*> noted = nullptr;

void take(int /*signal_number*/) {
  const int error = errno;
  const char* const note = noted;
  if (!came.exchange(true) && note != nullptr) (void)!write(STDERR_FILENO, note, std::strlen(note));
  errno = error;
}

}  // namespace

Interruptible::Interruptible(const char* note) {
  noted = note;
  struct sigaction action{};
  action.sa_handler = take;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

Interruptible::~Interruptible() {
  if (held_off_) return;
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool Interruptible::interrupted() { return came; }

void Interruptible::hold_off() {
  held_off_ = true;
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
}

}  // namespace monojit::tools
