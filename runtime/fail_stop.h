#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/group_health.h"
#include "runtime/peer_rank.h"

namespace monojit::runtime {

/// A rank's health words as they are now; waits for the device.
std::vector<std::uint32_t> read_health(const PeerRank& rank);
/// All ranks' alarm flags as they are now; likewise.
std::vector<std::uint32_t> read_alarms(const PeerRank& rank);

/// Watches whether a wait of one rank's launches gave up. Never clears anything: once it has failed, it stays so, and
/// the rank's group has to be made anew.
class FailStop {
 public:
  /// `rank` must outlive this. `launches` of a step, for the words.
  FailStop(const PeerRank& rank, std::vector<WatchedLaunch> launches);
  ~FailStop();
  FailStop(const FailStop&) = delete;
  FailStop& operator=(const FailStop&) = delete;

  /// Once a step, behind its launches on `stream`, outside of captures: looks at what an earlier call asked for, if
  /// that has come, and asks anew. Waits for nothing. Whether a failure is known by now.
  bool watch(hipStream_t stream);

  /// Nothing as long as no failure is known; then what happened, in words. The first time, reads the rank's records and
  /// rank 0's alarm flags, which waits for the device.
  const std::optional<std::string>& poll_error();

 private:
  void look();

  const PeerRank& rank_;
  std::vector<WatchedLaunch> launches_;
  std::uint32_t* word_ = nullptr;  // pinned; where the copy lands
  hipEvent_t landed_ = nullptr;
  bool asked_ = false;
  bool failed_ = false;
  std::optional<std::string> error_;
};

}  // namespace monojit::runtime
