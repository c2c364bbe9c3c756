#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
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
  using Milliseconds = std::chrono::milliseconds;
  /// What a rank does; its process ends with it. The message of a rank that has ended is empty.
  using Body = std::function<void(int rank, const runtime::Gather& gather)>;

  /// Throws std::system_error when a process can't be started.
  RankProcesses(int ranks, const Body& body);
  /// Kills those that are left.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  /// Carries messages until all processes have ended. `observe` sees those of each exchange before the ranks do. Kills
  /// a process that the others wait for when it has been stopped for `stopped_bound`, or has sent nothing for the bound
  /// of the exchange since the first of the others did. A stop is told on stderr at once.
  void serve(Milliseconds stopped_bound, const std::function<void(std::span<const Message>)>& observe);

  /// Why a process did not end well: what its body threw, or "its process was killed by signal 9"; empty: it did. After
  /// serve().
  const std::string& failure(int rank) const { return ranks_[static_cast<std::size_t>(rank)].failure; }
  /// Whether that is a UserError.
  bool refused(int rank) const { return ranks_[static_cast<std::size_t>(rank)].refused; }

 private:
  struct Rank {
    int number = 0;
    pid_t process = -1;
    int socket = -1;
    std::span<std::byte> thrown;  ///< text of what the body threw, shared with the process
    std::string failure;
    bool refused = false;
    std::vector<std::byte> arrived;  ///< of this exchange's message
    bool sent = false;               ///< all of it
    int stop_signal = 0;             ///< 0: it runs
    Milliseconds stopped_for{};

    bool pending() const { return socket >= 0 && !sent; }
  };
  void start(int rank, const Body& body);
  /// This exchange's messages; empty: its rank has ended.
  std::vector<Message> collect(Milliseconds stopped_bound);
  /// Takes what has come, waiting for a moment.
  void receive_some();
  static void watch_stop(Rank& rank, Milliseconds stopped_bound, Milliseconds passed);
  /// The bound of the exchange under way; nothing as long as no rank has sent its message.
  std::optional<Milliseconds> exchange_bound() const;
  void answer(const std::vector<Message>& messages) const;
  static void end(Rank& rank);
  static void end_by_force(Rank& rank, const std::string& why);

  SharedMemory memory_;
  std::vector<Rank> ranks_;
};

}  // namespace monojit::tools
