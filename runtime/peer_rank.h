#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/common/peer_state.h"
#include "runtime/argument_values.h"
#include "runtime/hip/buffer.h"

namespace monojit::runtime {

/// Memory of another process, mapped here; unmapped with this object.
class PeerMapping {
 public:
  PeerMapping() = default;
  /// Throws DeviceError when the handle can't be opened.
  PeerMapping(const Device& device, const hipIpcMemHandle_t& handle);
  ~PeerMapping();
  PeerMapping(PeerMapping&& other) noexcept;
  PeerMapping& operator=(PeerMapping&& other) noexcept;

  void* address() const { return address_; }

 private:
  std::shared_ptr<const HipTable> table_;
  void* address_ = nullptr;
};

/// One rank's own memory on its device, and where it sees the other ranks' peer buffers.
class PeerRank {
 public:
  /// Allocates and zeroes the memory. Throws DeviceError when the device has no room.
  PeerRank(const Device& device, int rank, const kernels::PeerState& state);

  const Device& device() const { return device_; }
  int rank() const { return rank_; }
  void* scratch() const { return scratch_.address(); }
  void* health() const { return health_.address(); }
  std::size_t health_bytes() const { return health_.bytes(); }
  /// int32: the forward pass. Every rank's is raised by 1 before the first launch of a pass.
  void* epoch() const { return epoch_.address(); }
  /// This rank's own peer buffer, head and all.
  void* peer() const { return peer_.address(); }
  /// Every rank's peer buffer as mapped here.
  std::span<void* const> peers() const { return peers_; }
  /// The alarm flags of all ranks, int32 each, in rank 0's buffer.
  void* alarms() const { return peers_.front(); }

  hipIpcMemHandle_t handle() const;
  /// Maps another process's buffer as that of rank `peer`.
  void map(int peer, const hipIpcMemHandle_t& handle);
  void set_peer(int peer, void* address);
  /// Writes the peer table, once all peers are known.
  void write_table();

  /// Sets those of a kernel's arguments that this state gives.
  void fill(ArgumentValues& values) const;

 private:
  Device device_;
  int rank_;
  kernels::PeerState state_;
  DeviceBuffer scratch_, health_, epoch_, peer_, table_;
  std::vector<PeerMapping> mappings_;
  std::vector<void*> peers_;
};

}  // namespace monojit::runtime
