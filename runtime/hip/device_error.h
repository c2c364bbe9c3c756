#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace monojit::runtime {

/// A HIP function failed. what() is one text of all parts.
class DeviceError : public std::runtime_error {
 public:
  /// `call`: the HIP function's name. `code`, `name`, `text`: hipError_t, its symbolic name and HIP's words for it.
  /// `detail`: what the emulator knows of a fault (kernel, workgroup, lane, address, instruction); else empty.
  DeviceError(std::string call, int code, const std::string& name, std::string text, std::string detail)
      : std::runtime_error(call + " failed: " + name + " (" + std::to_string(code) + "): " + text +
                           (detail.empty() ? "" : "\n" + detail)),
        call_(std::move(call)),
        code_(code),
        text_(std::move(text)),
        detail_(std::move(detail)) {}

  const std::string& call() const { return call_; }
  int code() const { return code_; }
  const std::string& text() const { return text_; }
  const std::string& detail() const { return detail_; }

 private:
  std::string call_;
  int code_;
  std::string text_;
  std::string detail_;
};

/// Calls `call` with each of `items`, those behind one that fails too, then throws the first DeviceError: a failure
/// that nobody asked for would turn up in a later call.
template <class Items, class Call>
void call_all(const Items& items, const Call& call) {
  std::exception_ptr first;
  for (const auto& item : items) {
    try {
      call(item);
    } catch (const DeviceError&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace monojit::runtime
