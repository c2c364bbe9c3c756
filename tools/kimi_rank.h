#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/reference/group.h"
#include "runtime/argument_values.h"
#include "runtime/hip/buffer.h"
#include "runtime/hip/stream.h"
#include "runtime/peer_rank.h"

namespace monojit::tools {

/// One rank of Kimi-K3 K2: its tensors on its device, and its part of a peer group.
class KimiRank {
 public:
  /// Memory for launches of `key`, uninitialised but for what `peers` holds. `peers` must outlive this.
  KimiRank(const runtime::PeerRank& peers, const kernels::kimi_k3::K2Key& key);

  const runtime::Device& device() const { return peers_.device(); }
  const runtime::PeerRank& peers() const { return peers_; }
  hipStream_t stream() const { return stream_.get(); }
  void synchronize() const { stream_.synchronize(); }

  /// The tensors at the device's addresses, which the host reaches on the emulator alone.
  const kernels::kimi_k3::RankMemory& memory() const { return memory_; }
  /// Of a launch with the scalars of `host`.
  runtime::ArgumentValues arguments(const kernels::kimi_k3::RankMemory& host) const;

  /// Time stamps of the latest launch, where the host can reach the device's memory; empty: the key takes none.
  std::span<std::int64_t> stamps() const;

  /// Copies what the kernel writes to `host`.
  void download(const kernels::kimi_k3::RankMemory& host) const;

 private:
  const runtime::PeerRank& peers_;
  runtime::Stream stream_;
  std::vector<runtime::DeviceBuffer> tensors_;
  std::optional<runtime::DeviceBuffer> stamps_;
  kernels::kimi_k3::RankMemory memory_;
};

/// Makes tensors those of another launch.
void set_launch(const kernels::kimi_k3::GroupMemory& memory, std::int32_t epoch, std::int32_t layer);

/// The typed key's build key.
kernels::BuildKey build_key(const kernels::kimi_k3::K2Key& key);

}  // namespace monojit::tools
