#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/common/peer_state.h"
#include "runtime/peer_rank.h"

namespace monojit::runtime {

/// A group of ranks could not be made. Every rank gets the same text, with the reasons of all of them.
class PeerGroupError : public std::runtime_error {
 public:
  explicit PeerGroupError(std::vector<std::string> reasons);
  /// "rank 3: no room for ..", in the order of the ranks.
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  std::vector<std::string> reasons_;
};

/// All ranks' messages in the order of the ranks, given this rank's, which is never empty: an all-gather of the
/// engine's CPU group. Every rank calls it equally often. It waits for the others for no longer than `bound`; the
/// message of one that has not been heard of by then, or has ended, is empty.
using Gather =
    std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte> own, std::chrono::milliseconds bound)>;

/// How long the ranks of a group wait for each other's messages, unless told otherwise.
inline constexpr std::chrono::milliseconds kExchangeBound{60'000};

/// The memory of kernels that run on all ranks of a group in lockstep: made on all of them, or on none. Must not be
/// destroyed while a launch of any rank may still be on its way.
class PeerGroup {
 public:
  /// All ranks in this process, rank r on devices[r]. The devices get access to each other, and keep it.
  static PeerGroup in_process(std::span<const Device> devices, const kernels::PeerState& state);

  /// Rank `rank` in this process, the others in processes that call this too, on this machine. A failure on any rank
  /// throws PeerGroupError on every one, also where the ranks disagree about `state` or one is not heard of within
  /// `bound`; what `gather` throws passes through.
  static PeerGroup across_processes(const Device& device, int rank, const kernels::PeerState& state,
                                    const Gather& gather, std::chrono::milliseconds bound = kExchangeBound);

  const kernels::PeerState& state() const { return state_; }
  /// Those of this process.
  std::span<const PeerRank> ranks() const { return ranks_; }

 private:
  explicit PeerGroup(const kernels::PeerState& state) : state_(state) {}

  kernels::PeerState state_;
  std::vector<PeerRank> ranks_;
};

}  // namespace monojit::runtime
