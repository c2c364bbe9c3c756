#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/reference/group.h"
#include "runtime/group_health.h"
#include "runtime/loaded_kernel.h"
#include "runtime/peer_group.h"
#include "tools/kimi_rank.h"

namespace monojit::tools {

/// Eight ranks of Kimi-K3 K2 on eight devices of the emulator, in this process. Its device memory is the host's: data
/// are made, and judged by the reference, where the kernels read them.
class KimiGroup {
 public:
  /// Memory for launches of `key`: zeros, but for what tells the ranks. Throws UserError when `table` has fewer than
  /// eight devices.
  KimiGroup(const std::shared_ptr<const runtime::HipTable>& table, const kernels::kimi_k3::K2Key& key);

  const runtime::Device& device(std::size_t rank) const { return ranks_[rank].device(); }
  const KimiRank& rank(std::size_t number) const { return ranks_[number]; }
  /// Of the eight ranks.
  const kernels::kimi_k3::GroupMemory& memory() const { return memory_; }
  const runtime::PeerGroup& peers() const { return peers_; }
  void set_launch(std::int32_t epoch, std::int32_t layer) const { tools::set_launch(memory_, epoch, layer); }
  /// Sees the same memory as launches of `key` do, which must need no more than the constructor's key.
  void set_shape(const kernels::kimi_k3::K2Key& key);

  /// A rank's arguments, with the scalars that memory() holds now.
  runtime::ArgumentValues arguments(std::size_t rank) const { return ranks_[rank].arguments(memory_[rank]); }

  /// One launch on every rank, waited for. `kernels`: the rank's own, of keys that the memory is large enough for.
  /// Throws DeviceError when one fails.
  void launch(std::span<const std::shared_ptr<const runtime::LoadedKernel>> kernels) const;

  /// Waits for all ranks' streams, those of failed ranks too. Throws the DeviceError of the first that failed.
  void synchronize() const;

  /// All ranks' health words.
  std::vector<std::vector<std::uint32_t>> health() const;
  /// What waits that gave up left behind on all ranks.
  std::optional<std::string> explain(std::span<const runtime::WatchedLaunch> launches,
                                     const runtime::LaunchFacts& facts = {}) const;

 private:
  runtime::PeerGroup peers_;
  std::vector<KimiRank> ranks_;
  kernels::kimi_k3::GroupMemory memory_;
};

}  // namespace monojit::tools
