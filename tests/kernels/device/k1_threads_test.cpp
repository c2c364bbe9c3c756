#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "runtime/hip/emulator_extras.h"
#include "tests/kernels/device/k1_launch.h"

// The emulator's host threads share out the workgroups: what K1 computes must not tell how many there are.
namespace {

using namespace monojit;

constexpr int kMostThreads = 4;
constexpr std::uint64_t kDataSeed = 11;

void set_option(const char* name, int value) {
  runtime::set_emulator_option(tests::device().hip(), name, std::to_string(value));
}

/// A schedule until the end of the test.
class Schedule {
 public:
  Schedule(int seed, int threads) {
    set_option("seed", seed);
    set_option("threads", threads);
  }
  ~Schedule() {
    set_option("seed", 0);
    set_option("threads", 1);
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
};

struct Outcome {
  std::vector<kernels::Tensor> tensors;
  runtime::EmulatorCounts counts;
};

Outcome run(const kernels::minimax_m3::K1Case& a_case, int seed, int threads) {
  const Schedule schedule(seed, threads);
  const auto counts = [] { return runtime::emulator_counts(tests::device().hip()).value(); };
  const runtime::EmulatorCounts before = counts();
  auto tensors = tests::launched(a_case);
  return {std::move(tensors), counts() - before};
}

}  // namespace

// Its waves wait for each other in loops over a load: how often those turn is the one thing that depends on the
// schedule.
TEST_CASE("Given a seed, when K1 ran on any number of threads, then all bits and all work but waiting are equal",
          "[k1]") {
  if (!tests::device().emulated()) SKIP("a chip has no threads to choose");
  const int seed = GENERATE(0, 1, 2);
  const auto a_case = tests::device_case({.tokens = 2}, kDataSeed);
  const Outcome one = run(a_case, seed, 1);
  CHECK(tests::disagreement(a_case, one.tensors) == "");
  CHECK(one.counts.mfma > 0);
  for (int threads = 2; threads <= kMostThreads; ++threads) {
    CAPTURE(seed, threads);
    const Outcome many = run(a_case, seed, threads);
    for (const kernels::Tensor& tensor : a_case.tensors) {
      CAPTURE(tensor.name);
      CHECK(tests::same(one.tensors, many.tensors, tensor.name));
    }
    CHECK(many.counts.mfma == one.counts.mfma);
    CHECK(many.counts.lds == one.counts.lds);
    CHECK(many.counts.mfma_with_partial_exec == one.counts.mfma_with_partial_exec);
    CHECK(many.counts.buffer_parts_out_of_range == one.counts.buffer_parts_out_of_range);
  }
}
