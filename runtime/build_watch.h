#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/hip/device.h"

namespace monojit::runtime {

/// After how long a build counts as long, and how often it then says what it is at.
struct Patience {
  std::chrono::milliseconds first = std::chrono::seconds(1);
  std::chrono::milliseconds next = std::chrono::seconds(10);
};

/// One build, watched: a long one says what it will do, and then again and again what it is at. With no one to tell, it
/// does nothing.
class BuildWatch {
 public:
  /// `what` is built: "minimax_m3.k1{...} for gfx950".
  BuildWatch(const Report& say, std::string what, const Patience& patience);
  ~BuildWatch();
  BuildWatch(const BuildWatch&) = delete;
  BuildWatch& operator=(const BuildWatch&) = delete;

  /// What the build is at from now on.
  void at(std::string_view stage);

 private:
  using Clock = std::chrono::steady_clock;

  void run(const Patience& patience);

  const Report& say_;
  std::string what_;
  Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::string stage_ = "starting";
  std::thread thread_;
};

}  // namespace monojit::runtime
