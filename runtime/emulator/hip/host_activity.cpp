#include "runtime/emulator/hip/host_activity.h"

namespace monojit::emulator {

HostActivity::Call::Call() {
  static thread_local const Thread thread;
  static_cast<void>(&thread);
  ++calling_;
  note();
}

HostActivity::Call::~Call() {
  note();
  --calling_;
}

HostActivity::Wait::Wait() {
  ++waiting_;
  --calling_;
}

HostActivity::Wait::~Wait() {
  ++calling_;
  --waiting_;
}

}  // namespace monojit::emulator
