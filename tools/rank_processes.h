#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "runtime/peer_group.h"
#include "tools/shared_memory.h"

namespace monojit::tools {

/// A process a rank, forked from this one, and the exchange between them. To be made before this process has threads or
/// a device.
class RankProcesses {
 public:
  using Message = std::vector<std::byte>;
  /// What a rank does; its process ends with it. The message of a rank that has ended is empty.
  using Body = std::function<void(int rank, const runtime::Gather& gather)>;

  /// Throws std::system_error when a process can't be started.
  RankProcesses(int ranks, const Body& body);
  /// Kills those that are left.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  /// Carries messages until all processes have ended. `observe` sees those of each exchange before the ranks do.
  void serve(const std::function<void(std::span<const Message>)>& observe);

  /// Why a process did not end well: what its body threw, or "its process was killed by signal 9"; empty: it did. After
  /// serve().
  const std::string& failure(int rank) const { return ranks_[static_cast<std::size_t>(rank)].failure; }

 private:
  struct Rank {
    pid_t process = -1;
    int socket = -1;
    std::span<std::byte> thrown;  ///< text of what the body threw, shared with the process
    std::string failure;
  };
  void start(int rank, const Body& body);
  void end(Rank& rank);

  SharedMemory memory_;
  std::vector<Rank> ranks_;
};

}  // namespace monojit::tools
