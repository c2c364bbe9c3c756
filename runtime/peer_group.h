#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/hip/buffer.h"
#include "runtime/hip/device.h"

namespace monojit::runtime {

/// Bytes of what kernels of a group share: a rank's own, but for `peer`, which every rank writes.
struct PeerSizes {
  std::size_t scratch = 0;
  std::size_t health = 0;
  std::size_t peer = 0;
  std::size_t peer_head = 0;  ///< at the start of a peer buffer: an alarm word a rank, on rank 0
};

/// What ranks in lockstep share, with all ranks in this process, a device each: scratch, health words and epoch of each
/// rank, and peer buffers that all of them reach. All of it is zero at first, and belongs to this object.
class PeerGroup {
 public:
  /// Rank i is on devices[i]. Throws UserError when a device can't reach another's memory, DeviceError when HIP fails.
  PeerGroup(std::span<const Device> devices, const PeerSizes& sizes);

  std::size_t size() const { return ranks_.size(); }
  void* scratch(std::size_t rank) const { return ranks_[rank].scratch.address(); }
  void* health(std::size_t rank) const { return ranks_[rank].health.address(); }
  void* epoch(std::size_t rank) const { return ranks_[rank].epoch.address(); }
  void* peer(std::size_t rank) const { return ranks_[rank].peer.address(); }
  /// Device memory of the rank: int64 addresses of all peer buffers behind their heads.
  void* peer_table(std::size_t rank) const { return ranks_[rank].table.address(); }
  /// The rank's alarm word in rank 0's peer buffer.
  void* alarm(std::size_t rank) const;

  /// Sets the epoch word of all ranks. The caller has synchronised what runs.
  void set_epoch(std::int32_t epoch) const;
  /// Ranks whose alarm is set: their kernels gave up a wait.
  std::vector<std::size_t> alarms() const;

 private:
  struct Rank {
    DeviceBuffer scratch, health, epoch, peer, table;
  };
  std::vector<Device> devices_;
  std::vector<Rank> ranks_;
};

}  // namespace monojit::runtime
