// A value whose copies are one object until one of them changes.
#pragma once

#include <atomic>
#include <utility>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// Null, or a counted reference to a T. Not for several threads at once: whoever holds some has a lock for all of them.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(const Shared& other) : node_(other.node_) {
    if (node_ != nullptr) ++node_->users;
  }
  Shared(Shared&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  // clang's analyzer does not follow the count: it takes each of two references for the last.
  // NOLINTBEGIN(clang-analyzer-cplusplus.NewDelete)
  ~Shared() {
    if (node_ != nullptr && --node_->users == 0) delete node_;
  }

  [[nodiscard]] explicit operator bool() const { return node_ != nullptr; }
  [[nodiscard]] const T& operator*() const { return node_->value; }
  [[nodiscard]] const T* operator->() const { return &node_->value; }
  // NOLINTEND(clang-analyzer-cplusplus.NewDelete)
  /// Whether both are the same object, or null.
  [[nodiscard]] bool is(const Shared& other) const { return node_ == other.node_; }
  /// Another one for each value that an object has had, of all that there ever were; 0 for null.
  [[nodiscard]] u64 serial() const { return node_ == nullptr ? 0 : node_->serial; }

  /// The value, for this reference alone to change: a copy if others have it too, a new one if this is null.
  [[nodiscard]] T& own() {
    if (node_ == nullptr) {
      node_ = new Node;
    } else if (node_->users > 1) {
      --node_->users;
      node_ = new Node{.value = node_->value};
    }
    node_->serial = last_serial.fetch_add(1, std::memory_order_relaxed) + 1;
    return node_->value;
  }

 private:
  struct Node {
    u64 users = 1;
    u64 serial = 0;
    T value{};
  };
  static inline std::atomic<u64> last_serial = 0;
  Node* node_ = nullptr;
};

}  // namespace monojit::emulator
