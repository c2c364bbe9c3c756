// What the weak memory mode allows and what it never shows: litmus tests over scopes and placements.
#include "tests/emulator/litmus.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

namespace monojit::emulator::test {
namespace {

constexpr std::uint32_t kSeeds = 400;

const char* name_of(Apart apart) {
  switch (apart) {
    case Apart::kSameCu:
      return "same compute unit";
    case Apart::kSameXcd:
      return "same XCD";
    case Apart::kOtherXcd:
      return "other XCD";
    case Apart::kOtherDevice:
      break;
  }
  return "other device";
}

// r0..r3 of wave w stand at 4 * w.
std::uint32_t result(const Outcome& outcome, std::size_t wave, std::size_t number) {
  return outcome[4 * wave + number];
}

/// Message passing: data in x, flag in y. Each piece may be left out.
struct MessagePassing {
  std::string warm = load(2, 'x') + kWait;  ///< the reader has looked at the data before
  std::string write_back;
  std::string producer_wait = kWait;
  std::string flag_store_bits;
  std::string flag_load_bits;
  std::string invalidate;

  explicit MessagePassing(const ScopeCode& scope)
      : write_back(scope.write_back),
        flag_store_bits(scope.bits),
        flag_load_bits(scope.bits),
        invalidate(scope.invalidate) {}

  [[nodiscard]] std::vector<std::string> waves() const {
    return {store('x', 1) + write_back + producer_wait + store('y', 1, flag_store_bits),
            warm + poll('y', 1, flag_load_bits) + invalidate + load(0, 'x') + kWait};
  }
};

bool stale(const Outcome& outcome) { return result(outcome, 1, 3) == 0 && result(outcome, 1, 0) == 0; }
bool gave_up(const Outcome& outcome) { return result(outcome, 1, 3) == 1; }

TEST_CASE("data behind a released and acquired flag are never stale, however far apart the waves are") {
  const Apart apart = GENERATE(from_range(kEveryApart));
  for (const ScopeCode* scope : {&workgroup_scope(), &agent_scope(), &system_scope()}) {
    const bool wide_enough =
        scope->bits.size() >= scope_for(apart).bits.size() && (apart == Apart::kSameCu || scope != &workgroup_scope());
    if (!wide_enough) continue;
    const auto seen = outcomes({.waves = MessagePassing(*scope).waves(), .apart = apart}, kSeeds);
    INFO(name_of(apart) << ", " << scope->name << " scope");
    CHECK(count(seen, stale) == 0);
    CHECK(count(seen, gave_up) == 0);
  }
}

TEST_CASE("without the producer's wait data behind a flag are stale under some seed") {
  const Apart apart = GENERATE(from_range(kEveryApart));
  MessagePassing test(scope_for(apart));
  test.producer_wait.clear();
  INFO(name_of(apart));
  CHECK(count(outcomes({.waves = test.waves(), .apart = apart}, kSeeds), stale) > 0);
}

TEST_CASE("without the write-back data of another L2 behind a flag are stale under some seed") {
  const Apart apart = GENERATE(Apart::kOtherXcd, Apart::kOtherDevice);
  MessagePassing test(scope_for(apart));
  test.write_back.clear();
  INFO(name_of(apart));
  CHECK(count(outcomes({.waves = test.waves(), .apart = apart}, kSeeds), stale) > 0);
}

TEST_CASE("without the invalidation a reader that knew the data before finds them stale under some seed") {
  const Apart apart = GENERATE(Apart::kSameXcd, Apart::kOtherXcd, Apart::kOtherDevice);
  MessagePassing test(scope_for(apart));
  test.invalidate.clear();
  INFO(name_of(apart));
  CHECK(count(outcomes({.waves = test.waves(), .apart = apart}, kSeeds), stale) > 0);
}

TEST_CASE("a flag stored without scope bits stays in its L2 under some seed") {
  const Apart apart = GENERATE(Apart::kOtherXcd, Apart::kOtherDevice);
  MessagePassing test(scope_for(apart));
  test.flag_store_bits.clear();
  INFO(name_of(apart));
  auto waves = test.waves();
  waves[0] += poll('z', 1, "sc1");  // the kernel's end would write it back: stay
  CHECK(count(outcomes({.waves = waves, .apart = apart}, kSeeds), gave_up) > 0);
}

TEST_CASE("a flag polled without scope bits is found in a cache for ever under some seed") {
  const Apart apart = GENERATE(Apart::kSameXcd, Apart::kOtherXcd, Apart::kOtherDevice);
  MessagePassing test(scope_for(apart));
  test.flag_load_bits.clear();
  INFO(name_of(apart));
  CHECK(count(outcomes({.waves = test.waves(), .apart = apart}, kSeeds), gave_up) > 0);
}

TEST_CASE("fine-grained and uncached memory needs no write-back, but the wait and the invalidation of the L1") {
  const MemoryKind kind = GENERATE(MemoryKind::kFineGrained, MemoryKind::kUncached);
  MessagePassing test(agent_scope());
  test.write_back.clear();
  CHECK(count(outcomes({.waves = test.waves(), .kind = kind}, kSeeds), stale) == 0);
  MessagePassing no_wait = test;
  no_wait.producer_wait.clear();
  CHECK(count(outcomes({.waves = no_wait.waves(), .kind = kind}, kSeeds), stale) > 0);
  MessagePassing no_invalidate = test;
  no_invalidate.invalidate.clear();
  CHECK(count(outcomes({.waves = no_invalidate.waves(), .kind = kind}, kSeeds), stale) > 0);
}

TEST_CASE("between devices a release at device scope is not enough, whatever the memory, and neither is an acquire") {
  const MemoryKind kind = GENERATE(MemoryKind::kCoarseGrained, MemoryKind::kFineGrained, MemoryKind::kUncached);
  const auto run = [&](const MessagePassing& test) {
    return outcomes({.waves = test.waves(), .apart = Apart::kOtherDevice, .kind = kind}, kSeeds);
  };
  const MessagePassing whole(system_scope());
  CHECK(count(run(whole), stale) == 0);
  CHECK(count(run(whole), gave_up) == 0);
  MessagePassing released_to_device = whole;
  released_to_device.write_back = agent_scope().write_back;
  CHECK(count(run(released_to_device), stale) > 0);
  MessagePassing acquired_from_device = whole;
  acquired_from_device.invalidate = agent_scope().invalidate;
  acquired_from_device.warm = load(2, 'x', "sc1") + kWait;
  CHECK(count(run(acquired_from_device), stale) > 0);
  MessagePassing polled_at_device = whole;
  polled_at_device.flag_load_bits = agent_scope().bits;
  CHECK(count(run(polled_at_device), gave_up) > 0);
  MessagePassing flag_at_device = whole;
  flag_at_device.flag_store_bits = agent_scope().bits;
  auto waves = flag_at_device.waves();
  waves[0] += poll('z', 1, "sc1");  // the kernel's end would write it back: stay
  CHECK(count(outcomes({.waves = waves, .apart = Apart::kOtherDevice, .kind = kind}, kSeeds), gave_up) > 0);
}

TEST_CASE("data stored at system scope need no write-back between devices") {
  MessagePassing test(system_scope());
  test.write_back.clear();
  auto waves = test.waves();
  waves[0] = store('x', 1, "sc0 sc1") + kWait + store('y', 1, "sc0 sc1");
  CHECK(count(outcomes({.waves = waves, .apart = Apart::kOtherDevice}, kSeeds), stale) == 0);
}

TEST_CASE("data that reached their device are taken along by a later release at system scope") {
  const std::string owner = store('x', 1, "sc1") + kWait + release(system_scope()) + store('y', 1, "sc0 sc1");
  const std::string reader =
      load(2, 'x') + kWait + poll('y', 1, "sc0 sc1") + system_scope().invalidate + load(0, 'x') + kWait;
  CHECK(count(outcomes({.waves = {owner, reader}, .apart = Apart::kOtherDevice}, kSeeds), stale) == 0);
}

// A load to LDS, and a read of LDS by the same or another wave of the workgroup.
std::string read_lds(int result) {
  return "  ds_read_b32 v" + std::to_string(20 + result) + ", v1\n  s_waitcnt lgkmcnt(0)\n";
}
const std::string kOldInLds = "  v_mov_b32 v30, 7\n  ds_write_b32 v1, v30\n  s_waitcnt lgkmcnt(0)\n";
constexpr std::uint32_t kOld = 7, kNew = 9;

TEST_CASE("LDS behind a load to it is old until the wait, for the wave itself and across a barrier") {
  for (const bool untouched : {false, true}) {
    INFO((untouched ? "untouched" : "small") << " memory");
    const auto alone = [&](const std::string& wait) {
      const Litmus litmus{.waves = {kOldInLds + load_to_lds('x') + wait + read_lds(0) + kWait + read_lds(1)},
                          .untouched = untouched,
                          .initial = {kNew, 0, 0}};
      return outcomes(litmus, kSeeds);
    };
    const auto is_old = [](const Outcome& outcome) { return outcome[0] == kOld; };
    const auto is_new = [](const Outcome& outcome) { return outcome[0] == kNew && outcome[1] == kNew; };
    CHECK(count(alone(kWait), is_new) == kSeeds);
    CHECK(count(alone(""), is_old) > 0);
    CHECK(count(alone(""), is_new) > 0);

    const auto across = [&](const std::string& wait) {
      const Litmus litmus{
          .waves = {kOldInLds + load_to_lds('x') + wait + "  s_barrier\n", "  s_barrier\n" + read_lds(0)},
          .apart = Apart::kSameCu,
          .untouched = untouched,
          .initial = {kNew, 0, 0}};
      return outcomes(litmus, kSeeds);
    };
    const auto other_is = [](std::uint32_t value) {
      return [=](const Outcome& outcome) { return result(outcome, 1, 0) == value; };
    };
    CHECK(count(across(kWait), other_is(kNew)) == kSeeds);
    CHECK(count(across(""), other_is(kOld)) > 0);
  }
}

TEST_CASE("LDS that nobody wrote holds something else under each seed") {
  const auto seen = outcomes({.waves = {read_lds(0)}}, kSeeds);
  CHECK(seen.size() > kSeeds / 2);
}

TEST_CASE("a register behind a load is old until the wait, in memory that no kernel has written too") {
  const auto copied = [](const std::string& wait) {
    const Litmus litmus{.waves = {"  v_mov_b32 v20, 7\n" + load(0, 'x') + wait + "  v_mov_b32 v21, v20\n" + kWait},
                        .untouched = true,
                        .initial = {kNew, 0, 0}};
    return outcomes(litmus, kSeeds);
  };
  CHECK(count(copied(kWait), [](const Outcome& outcome) { return outcome[1] == kNew; }) == kSeeds);
  CHECK(count(copied(""), [](const Outcome& outcome) { return outcome[1] == kOld; }) > 0);
}

TEST_CASE("the first launch that writes to large memory finds readers with old lines under some seed") {
  for (const Apart apart : {Apart::kSameXcd, Apart::kOtherXcd, Apart::kOtherDevice}) {
    INFO(name_of(apart));
    MessagePassing test(scope_for(apart));
    CHECK(count(outcomes({.waves = test.waves(), .apart = apart, .untouched = true}, kSeeds), stale) == 0);
    test.invalidate.clear();
    CHECK(count(outcomes({.waves = test.waves(), .apart = apart, .untouched = true}, kSeeds), stale) > 0);
  }
}

// Store buffering: each wave stores its variable and loads the other's.
std::vector<std::string> store_buffering(const ScopeCode& scope, const std::string& between) {
  return {store('x', 1, scope.bits) + between + load(0, 'y', scope.bits) + kWait,
          store('y', 1, scope.bits) + between + load(0, 'x', scope.bits) + kWait};
}
bool both_zero(const Outcome& outcome) { return result(outcome, 0, 0) == 0 && result(outcome, 1, 0) == 0; }

TEST_CASE("store buffering: both loads may miss both stores, but not when each waits for its store") {
  const Apart apart = GENERATE(from_range(kEveryApart));
  const ScopeCode& scope = scope_for(apart);
  INFO(name_of(apart));
  CHECK(count(outcomes({.waves = store_buffering(scope, ""), .apart = apart}, kSeeds), both_zero) > 0);
  const std::string fence = scope.write_back + kWait + scope.invalidate;
  CHECK(count(outcomes({.waves = store_buffering(scope, fence), .apart = apart}, kSeeds), both_zero) == 0);
}

// Load buffering: each wave loads one variable and then stores the other.
std::vector<std::string> load_buffering(const ScopeCode& scope, const std::string& between) {
  return {load(0, 'x', scope.bits) + between + store('y', 1, scope.bits) + kWait,
          load(0, 'y', scope.bits) + between + store('x', 1, scope.bits) + kWait};
}
bool both_one(const Outcome& outcome) { return result(outcome, 0, 0) == 1 && result(outcome, 1, 0) == 1; }

TEST_CASE("load buffering: both loads may see the later stores, but not when each store waits for its load") {
  const Apart apart = GENERATE(from_range(kEveryApart));
  const ScopeCode& scope = scope_for(apart);
  INFO(name_of(apart));
  CHECK(count(outcomes({.waves = load_buffering(scope, ""), .apart = apart}, 3 * kSeeds), both_one) > 0);
  CHECK(count(outcomes({.waves = load_buffering(scope, release(scope)), .apart = apart}, kSeeds), both_one) == 0);
}

// Independent reads of independent writes: two writers, two readers that look in opposite orders.
std::vector<std::string> independent_reads(const ScopeCode& scope, const std::string& warm, const std::string& bits,
                                           const std::string& between) {
  return {store('x', 1, scope.bits) + kWait, store('y', 1, scope.bits) + kWait,
          warm + load(0, 'x', bits) + between + load(1, 'y', bits) + kWait,
          warm + load(0, 'y', bits) + between + load(1, 'x', bits) + kWait};
}
bool readers_disagree(const Outcome& outcome) {
  return result(outcome, 2, 0) == 1 && result(outcome, 2, 1) == 0 && result(outcome, 3, 0) == 1 &&
         result(outcome, 3, 1) == 0;
}

TEST_CASE("independent reads of independent writes disagree only without acquire") {
  const Apart apart = GENERATE(Apart::kSameXcd, Apart::kOtherXcd, Apart::kOtherDevice);
  const ScopeCode& scope = scope_for(apart);
  INFO(name_of(apart));
  const std::string warm = load(2, 'x') + load(3, 'y') + kWait;
  CHECK(count(outcomes({.waves = independent_reads(scope, warm, "", kWait), .apart = apart}, 10 * kSeeds),
              readers_disagree) > 0);
  CHECK(count(outcomes({.waves = independent_reads(scope, warm, scope.bits, acquire(scope)), .apart = apart}, kSeeds),
              readers_disagree) == 0);
}

TEST_CASE("coherence: two loads of one variable never see a new value and then an old one") {
  const Apart apart = GENERATE(from_range(kEveryApart));
  const ScopeCode& scope = scope_for(apart);
  for (const std::string& between : {std::string(), kWait}) {
    const Litmus litmus{.waves = {store('x', 1, scope.bits) + store('x', 2, scope.bits),
                                  load(0, 'x', scope.bits) + between + load(1, 'x', scope.bits) + between +
                                      load(2, 'x', scope.bits) + kWait},
                        .apart = apart};
    const auto seen = outcomes(litmus, kSeeds);
    INFO(name_of(apart));
    CHECK(count(seen, [](const Outcome& outcome) {
            return result(outcome, 1, 0) > result(outcome, 1, 1) || result(outcome, 1, 1) > result(outcome, 1, 2);
          }) == 0);
    CHECK(seen.size() > 1);
  }
}

TEST_CASE("coherence: a wave sees its own stores in order, and the last one stays, without any wait") {
  const ScopeCode none{};
  for (const ScopeCode* scope : {&none, &workgroup_scope(), &agent_scope(), &system_scope()}) {
    const Litmus litmus{.waves = {store('x', 1, scope->bits) + load(0, 'x', scope->bits) + store('x', 2, scope->bits) +
                                      store('x', 3, scope->bits) + load(1, 'x', scope->bits) + kWait + load(2, 'x') +
                                      kWait,
                                  ""}};
    INFO("scope " << scope->name);
    CHECK(count(outcomes(litmus, kSeeds), [](const Outcome& outcome) {
            return result(outcome, 0, 0) == 1 && result(outcome, 0, 1) == 3 && result(outcome, 0, 2) == 3;
          }) == kSeeds);
  }
}

TEST_CASE("release sequence: a read-modify-write between release and acquire keeps the order") {
  const Apart apart = GENERATE(from_range(kEveryApart));
  const ScopeCode& scope = scope_for(apart);
  const std::string link = poll('y', 1, scope.bits) + add('y', 1, scope.atomic_bits) + kWait;
  const std::string reader = load(2, 'x') + kWait + poll('y', 2, scope.bits) + scope.invalidate + load(0, 'x') + kWait;
  const auto stale_reader = [](const Outcome& outcome) {
    return result(outcome, 2, 3) == 0 && result(outcome, 2, 0) == 0;
  };
  INFO(name_of(apart));
  const auto seen = outcomes(
      {.waves = {store('x', 1) + release(scope) + store('y', 1, scope.bits), link, reader}, .apart = apart}, kSeeds);
  CHECK(count(seen, stale_reader) == 0);
  CHECK(count(seen, [](const Outcome& outcome) { return result(outcome, 2, 3) == 1; }) == 0);
  const auto unreleased =
      outcomes({.waves = {store('x', 1) + store('y', 1, scope.bits), link, reader}, .apart = apart}, kSeeds);
  CHECK(count(unreleased, stale_reader) > 0);
}

TEST_CASE("atomic additions from everywhere are all counted, and a plain store before them is not lost") {
  const Apart apart = GENERATE(from_range(kEveryApart));
  const ScopeCode& scope = scope_for(apart);
  const std::string twice = add('x', 1, scope.atomic_bits) + add('x', 1, scope.atomic_bits);
  const std::string last = twice + kWait + poll('x', 6, scope.bits) + load(0, 'x', scope.bits) + kWait;
  INFO(name_of(apart));
  CHECK(count(outcomes({.waves = {last, twice, twice}, .apart = apart}, kSeeds), [](const Outcome& outcome) {
          return result(outcome, 0, 0) == 6 && result(outcome, 0, 3) == 0;
        }) == kSeeds);
  const Litmus alone{.waves = {store('x', 5) + add('x', 1) + load(0, 'x') + kWait}, .apart = Apart::kOtherXcd};
  CHECK(count(outcomes(alone, kSeeds), [](const Outcome& outcome) { return outcome[0] == 6; }) == kSeeds);
}

TEST_CASE("the scalar cache is cleared by s_dcache_inv, not by buffer_inv") {
  const auto reader = [](const std::string& clear) {
    return "  s_load_dword s12, s[4:5], 0x0\n  s_waitcnt lgkmcnt(0)\n" + poll('y', 1, "sc1") + clear +
           "  s_load_dword s12, s[4:5], 0x0\n  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v20, s12\n";
  };
  const std::string writer = store('x', 1) + release(agent_scope()) + store('y', 1, "sc1");
  CHECK(count(outcomes({.waves = {writer, reader("buffer_inv sc1\n")}}, kSeeds), stale) > 0);
  CHECK(count(outcomes({.waves = {writer, reader("buffer_inv sc1\n s_dcache_inv\n")}}, kSeeds), stale) == 0);
}

TEST_CASE("a seed gives the same outcomes again, other seeds give others") {
  const Litmus litmus{.waves = store_buffering(agent_scope(), ""), .apart = Apart::kOtherXcd};
  const auto first = outcomes(litmus, kSeeds);
  CHECK(first == outcomes(litmus, kSeeds));
  CHECK(first.size() >= 3);
}

}  // namespace
}  // namespace monojit::emulator::test
