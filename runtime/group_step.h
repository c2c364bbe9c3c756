#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/argument_values.h"
#include "runtime/hip/stream.h"
#include "runtime/jit.h"
#include "runtime/peer_group.h"
#include "runtime/step_graph.h"

namespace monojit::runtime {

/// A key that was to be launched was not prepared.
class NotPreparedError : public UserError {
 public:
  using UserError::UserError;
};

/// One layer's launch on the ranks of this process.
struct GroupLayer {
  kernels::BuildKey key;
  std::vector<ArgumentValues> arguments;  ///< one a rank of this process; the group's own are filled in
};

/// A forward pass of a group: the epoch's next number, then layer after layer, captured once on every rank of this
/// process and replayed.
class GroupStep {
 public:
  /// `group` must outlive this.
  explicit GroupStep(const PeerGroup& group);

  /// Compiles and loads the kernels for every rank of this process. Throws what Jit::prepare() throws.
  void prepare(Jit& jit, std::span<const kernels::BuildKey> keys);
  /// The kernel of a prepared key on rank `index` of this process. Throws NotPreparedError.
  const std::shared_ptr<const LoadedKernel>& kernel(const kernels::BuildKey& key, std::size_t index) const;

  /// Captures the step anew; all keys must be prepared.
  void capture(std::span<const GroupLayer> layers);
  /// Replays it on every rank's own stream. Allocates nothing and takes no lock.
  void launch() const;
  /// The same on rank `index` alone, on an engine's stream.
  void launch(std::size_t index, hipStream_t stream) const;
  /// Waits for the ranks' own streams, all of them; then throws the first rank's DeviceError.
  void synchronize() const;

  hipStream_t stream(std::size_t index) const { return streams_[index].get(); }

 private:
  using Loaded = std::vector<std::shared_ptr<const LoadedKernel>>;  // one a rank

  const PeerGroup& group_;
  std::vector<std::pair<kernels::BuildKey, Loaded>> kernels_;
  std::vector<Stream> streams_;
  std::vector<StepGraph> graphs_;
};

}  // namespace monojit::runtime
