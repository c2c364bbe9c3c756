#include "tools/warm/interruptible.h"

#include <atomic>

namespace monojit::tools {
namespace {

std::atomic<bool> came = false;

}  // namespace

Interruptible::Interruptible() {
  struct sigaction action{};
  action.sa_handler = [](int) { came = true; };
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
