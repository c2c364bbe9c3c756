#pragma once

#include <cstdint>
#include <string_view>

/// What a rank of a group holds besides its tensors, for kernels that hand values from rank to rank: memory that lives
/// as long as the group and is never cleared between launches.
namespace monojit::kernels {

struct PeerState {
  int ranks = 0;                   ///< of a group
  std::int64_t scratch_bytes = 0;  ///< hand-offs inside the rank, zeroed once
  std::int64_t health_bytes = 0;   ///< why waits gave up (kernels/common/health.h), zeroed once
  std::int64_t peer_bytes = 0;     ///< written by all ranks, uncached, zeroed once
  std::int64_t peer_head = 0;      ///< of these, bytes before what the kernels address; rank 0's begin with alarm flags

  bool operator==(const PeerState&) const = default;
};

/// The arguments that give a kernel this state; a kernel that lacks one does without.
namespace peer_argument {
inline constexpr std::string_view kScratch = "scratch";
inline constexpr std::string_view kPeers = "peers";    ///< int64 [ranks]: each rank's buffer as mapped here, plus head
inline constexpr std::string_view kRank = "rank";      ///< int32: this rank
inline constexpr std::string_view kEpoch = "epoch";    ///< int32 [1]: forward pass
inline constexpr std::string_view kHealth = "health";  ///< int32 [workgroups + 1][8]
inline constexpr std::string_view kAlarm = "alarm";    ///< int32 [1]: this rank's flag in rank 0's buffer
}  // namespace peer_argument

}  // namespace monojit::kernels
