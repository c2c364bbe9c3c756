// What a wave knows of the others: up to which of its accesses each one's are ordered before what follows.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/emulator/checks/shared.h"

namespace monojit::emulator {

/// A wave's place in the clocks: its XCD among all devices', its workgroup among those of the XCD, and itself in it.
struct ClockPlace {
  u32 xcd = 0;
  u32 group = 0;
  u32 wave = 0;
};

/// A time for each wave, at first 0. There are as many clocks as waves and words that hand something over, so they are
/// trees whose parts are shared: what spreads from one wave to thousands exists once. Parts are compared before they
/// are joined: the one that knows more takes the place of the other.
class VectorClock {
 public:
  static constexpr u32 kMostWaves = 16;  ///< of a workgroup

  [[nodiscard]] u32 of(const ClockPlace& place) const {
    if (!xcds_ || place.xcd >= xcds_->size()) return 0;
    const Groups& groups = (*xcds_)[place.xcd];
    if (!groups || place.group >= groups->size()) return 0;
    const Waves& waves = (*groups)[place.group];
    return waves ? (*waves)[place.wave] : 0;
  }

  void raise(const ClockPlace& place, u32 time) {
    if (of(place) >= time) return;
    Groups& groups = entry(xcds_.own(), place.xcd);
    entry(groups.own(), place.group).own()[place.wave] = time;
  }

  /// To the later of both times, wave by wave.
  void join(const VectorClock& other) { join(xcds_, other.xcds_); }
  /// The same for the waves of one XCD.
  void join_xcd(const VectorClock& other, u32 xcd) {
    const Groups theirs = other.groups_of(xcd);
    if (compare(groups_of(xcd), theirs).before) join(entry(xcds_.own(), xcd), theirs);
  }

  /// Whether both are one object, and therefore equal.
  [[nodiscard]] bool is(const VectorClock& other) const { return xcds_.is(other.xcds_); }
  /// Clocks with one number are equal, now and later.
  [[nodiscard]] u64 serial() const { return xcds_.serial(); }

 private:
  using Waves = Shared<std::array<u32, kMostWaves>>;
  using Groups = Shared<std::vector<Waves>>;
  using Xcds = Shared<std::vector<Groups>>;

  [[nodiscard]] Groups groups_of(u32 xcd) const { return xcds_ && xcd < xcds_->size() ? (*xcds_)[xcd] : Groups(); }

  template <class Part>
  static Part& entry(std::vector<Part>& parts, u32 index) {
    if (index >= parts.size()) parts.resize(index + 1);
    return parts[index];
  }

  /// How a clock's times stand to another's: `before` if some are earlier, `after` if some are later.
  struct Order {
    bool before = false;
    bool after = false;

    [[nodiscard]] bool apart() const { return before && after; }
  };

  static Order compare_parts(const std::array<u32, kMostWaves>& one, const std::array<u32, kMostWaves>& other) {
    Order order;
    for (u32 i = 0; i < kMostWaves; ++i) {
      order.before |= one[i] < other[i];
      order.after |= one[i] > other[i];
    }
    return order;
  }
  template <class Part>
  static Order compare_parts(const std::vector<Part>& one, const std::vector<Part>& other) {
    Order order;
    const Part none;
    for (std::size_t i = 0; i < std::max(one.size(), other.size()) && !order.apart(); ++i) {
      const Order part = compare(i < one.size() ? one[i] : none, i < other.size() ? other[i] : none);
      order = {.before = order.before || part.before, .after = order.after || part.after};
    }
    return order;
  }
  template <class Parts>
  static Order compare(const Shared<Parts>& one, const Shared<Parts>& other) {
    if (one.is(other)) return {};
    if (!one || !other) return {.before = !one, .after = !other};
    return compare_parts(*one, *other);
  }

  static void join_parts(std::array<u32, kMostWaves>& one, const std::array<u32, kMostWaves>& other) {
    for (u32 i = 0; i < kMostWaves; ++i) one[i] = std::max(one[i], other[i]);
  }
  template <class Part>
  static void join_parts(std::vector<Part>& one, const std::vector<Part>& other) {
    if (one.size() < other.size()) one.resize(other.size());
    for (std::size_t i = 0; i < other.size(); ++i) join(one[i], other[i]);
  }
  template <class Parts>
  static void join(Shared<Parts>& one, const Shared<Parts>& other) {
    const Order order = compare(one, other);
    if (order.apart()) {
      join_parts(one.own(), *other);
    } else if (!order.after) {  // equal ones become one, too: quick to compare from then on
      one = other;
    }
  }

  Xcds xcds_;
};

/// The same at each distance: what is ordered before is visible to waves of the same workgroup or XCD at once, further
/// away only after the cache between has been written back.
struct ScopedClocks {
  VectorClock near;    ///< workgroup and XCD
  VectorClock device;  ///< other XCDs
  VectorClock system;  ///< other devices

  void join(const ScopedClocks& other) {
    near.join(other.near);
    device.join(other.device);
    system.join(other.system);
  }
};

/// Which clocks have lately been joined to one that only grows: words that are polled, or were stored by one
/// instruction, mostly hand over the same again.
class JoinedClocks {
 public:
  /// Whether these may be new to it; it is said once.
  [[nodiscard]] bool note(const ScopedClocks& clocks) {
    const Serials serials{clocks.near.serial(), clocks.device.serial(), clocks.system.serial()};
    Serials& place = latest_[(serials[0] ^ serials[1] ^ serials[2]) % kPlaces];
    if (place == serials) return false;
    place = serials;
    return true;
  }

 private:
  static constexpr std::size_t kPlaces = 16;
  using Serials = std::array<u64, 3>;
  std::array<Serials, kPlaces> latest_{};
};

}  // namespace monojit::emulator
