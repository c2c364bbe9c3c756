#pragma once

#include <string>
#include <utility>
#include <vector>

namespace monojit::kernels {

/// What is wrong with the ranks of a group: what several of them say is told once.
class RankReasons {
 public:
  void add(int rank, std::string reason);
  bool empty() const { return reasons_.empty(); }
  /// "rank 3: is gone", "ranks 0, 2, 5..7: is gone"; in the order in which they were first added.
  std::vector<std::string> texts() const;

 private:
  std::vector<std::pair<std::string, std::vector<int>>> reasons_;
};

/// "rank 3", "ranks 0, 2, 5..7" of rising numbers.
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace monojit::kernels
