#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace monojit::cache {

/// Receives one line of text, without a line end. May be called from any thread, never with a lock held.
using WarningCallback = std::function<void(std::string_view)>;

/// Says each thing once a process, however many caches the process has.
class Warnings {
 public:
  /// Without a callback, warnings go to stderr.
  explicit Warnings(WarningCallback callback) : callback_(std::move(callback)) {}

  /// Passes `text` on, unless something was said about `cause` before. What the callback throws is dropped: a problem
  /// of the cache never costs an answer.
  void once(const std::string& cause, std::string_view text) const;

 private:
  WarningCallback callback_;
};

}  // namespace monojit::cache
