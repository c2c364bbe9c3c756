#include "kernels/common/rank_reasons.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace monojit::kernels {
namespace {

TEST_CASE("what several ranks say is told once, in the order of the first, and runs of ranks as their ends") {
  RankReasons reasons;
  CHECK(reasons.empty());
  for (const int rank : {0, 2, 3, 5, 6, 7}) reasons.add(rank, "is gone");
  reasons.add(1, "is late");
  reasons.add(1, "is late");
  reasons.add(6, "is late");
  CHECK_FALSE(reasons.empty());
  CHECK(reasons.texts() == std::vector<std::string>{"ranks 0, 2, 3, 5..7: is gone", "ranks 1, 6: is late"});
}

TEST_CASE("one rank is told in the singular") { CHECK(ranks_text({4}) == "rank 4"); }

}  // namespace
}  // namespace monojit::kernels
