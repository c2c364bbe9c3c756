#include "cache/single_flight.h"

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;

constexpr int kThreads = 16;

SingleFlight::Value value(int number) { return std::make_shared<const Entry>(example_entry(number)); }

/// Starts kThreads calls for one key while the work of the first is held up, so that the others find it in progress.
template <class Call>
void call_together(SingleFlight& flight, const SingleFlight::Work& work, const Call& call) {
  std::latch started(1);
  std::latch all_there(kThreads);
  const SingleFlight::Work held_up = [&] {
    started.count_down();
    all_there.wait();
    // The last thread has counted down but may not have called yet.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return work();
  };
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      if (t != 0) started.wait();
      all_there.count_down();
      call([&] { return flight.run(example_key(), held_up); });
    });
  }
}

TEST_CASE("threads that ask for a key while it is built share one build") {
  SingleFlight flight;
  std::atomic<int> builds = 0;
  std::atomic<int> ran = 0;
  std::atomic<int> got = 0;
  call_together(
      flight,
      [&] {
        ++builds;
        return value(1);
      },
      [&](const auto& run) {
        const auto outcome = run();
        ran += outcome.ran ? 1 : 0;
        got += outcome.value->key == example_key() ? 1 : 0;
      });
  CHECK(builds == 1);
  CHECK(ran == 1);
  CHECK(got == kThreads);
}

TEST_CASE("a build that fails fails for all who wait, and the next caller builds again") {
  SingleFlight flight;
  std::atomic<int> builds = 0;
  std::atomic<int> failures = 0;
  call_together(
      flight,
      [&]() -> SingleFlight::Value {
        ++builds;
        throw std::runtime_error("no such instruction");
      },
      [&](const auto& run) {
        try {
          run();
        } catch (const std::runtime_error& error) {
          if (error.what() == std::string("no such instruction")) ++failures;
        }
      });
  CHECK(builds == 1);
  CHECK(failures == kThreads);
  CHECK(flight.run(example_key(), [] { return value(1); }).ran);
}

TEST_CASE("different keys are built at the same time") {
  SingleFlight flight;
  std::latch both_inside(2);
  std::vector<std::jthread> threads;
  for (const int number : {1, 2}) {
    threads.emplace_back([&, number] {
      flight.run(example_key(number), [&] {
        both_inside.arrive_and_wait();  // would never return were they one after the other
        return value(number);
      });
    });
  }
}

TEST_CASE("a build may ask for another key") {
  SingleFlight flight;
  const auto outcome = flight.run(example_key(1), [&] {
    CHECK_FALSE(SingleFlight::nested());
    return flight
        .run(example_key(2),
             [] {
               CHECK(SingleFlight::nested());
               return value(2);
             })
        .value;
  });
  CHECK(outcome.value->key == example_key(2));
}

TEST_CASE("a build that asks for its own key is an error, not a deadlock") {
  SingleFlight flight;
  const auto ask_again = [&] { return flight.run(example_key(), [] { return value(1); }).value; };
  const auto through_another = [&] { return flight.run(example_key(2), ask_again).value; };
  const auto message =
      Catch::Matchers::Message("the build of minimax_m3.k1{tokens=1} for amdgcn-amd-amdhsa--gfx950 asks for itself");
  CHECK_THROWS_MATCHES(flight.run(example_key(), ask_again), std::logic_error, message);
  CHECK_THROWS_MATCHES(flight.run(example_key(), through_another), std::logic_error, message);
  CHECK(flight.run(example_key(), [] { return value(1); }).ran);
}

TEST_CASE("two builds that ask for each other's key both end") {
  SingleFlight flight;
  std::latch both_inside(2);
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  for (const int number : {1, 2}) {
    threads.emplace_back([&, number] {
      flight.run(example_key(number), [&] {
        both_inside.arrive_and_wait();
        return flight.run(example_key(3 - number), [&] { return value(3 - number); }).value;
      });
      ++done;
    });
  }
  threads.clear();
  CHECK(done == 2);
}

}  // namespace
}  // namespace monojit::cache
