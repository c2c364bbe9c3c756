// Profiles and traces: what they say of small kernels whose every step is known.
#include <algorithm>
#include <map>

#include <catch2/catch_test_macros.hpp>

#include "runtime/emulator/observe/profile.h"
#include "runtime/emulator/observe/trace.h"
#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

constexpr u32 kTurns = 10;
constexpr u32 kWaves = 3;

// A loop of kTurns turns, half of which take a detour.
constexpr const char* kLoop = R"(
  s_mov_b32 s4, 10
loop:
  s_sub_u32 s4, s4, 1
  s_bitcmp1_b32 s4, 0
  s_cbranch_scc1 odd
  v_add_u32 v1, v0, v0
odd:
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 loop
  s_barrier
)";

std::map<std::string, ProfiledInstruction> by_mnemonic(const ProfiledKernel& kernel) {
  std::map<std::string, ProfiledInstruction> found;
  for (const ProfiledInstruction& each : kernel.instructions) found[each.text.substr(0, each.text.find(' '))] = each;
  return found;
}

TEST_CASE("a profile counts every instruction exactly, through loops, branches, barriers and launches") {
  Device device;
  Profile profile;
  const Kernel& kernel = device.load(assemble({.body = kLoop, .arguments = 0}), "kernel");
  const Shape shape{.grid = {2, 1, 1}, .block = {64 * kWaves, 1, 1}, .profile = &profile};
  constexpr u32 kLaunches = 2;
  LaunchReport report;
  for (u32 i = 0; i < kLaunches; ++i) report = device.launch(kernel, shape, {});
  const auto kernels = profile.kernels();
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].name == "kernel");
  CHECK(kernels[0].launches == kLaunches);
  const auto count = by_mnemonic(kernels[0]);
  constexpr u32 kRuns = 2 * kWaves * kLaunches;
  CHECK(count.at("s_mov_b32").executions == kRuns);
  CHECK(count.at("s_sub_u32").executions == kRuns * kTurns);
  CHECK(count.at("s_bitcmp1_b32").executions == kRuns * kTurns);
  CHECK(count.at("v_add_u32_e32").executions == kRuns * kTurns / 2);
  CHECK(count.at("s_cmp_lg_u32").executions == kRuns * kTurns);
  CHECK(count.at("s_barrier").executions == kRuns);
  CHECK(count.at("s_endpgm").executions == kRuns);
  CHECK(count.at("v_add_u32_e32").count == CountClass::kVector);
  CHECK(count.at("s_waitcnt").dropped);
  u64 vector = 0;
  for (const auto& [name, each] : count) vector += each.count == CountClass::kVector ? each.executions : 0;
  CHECK(vector == kLaunches * report.counts[static_cast<u32>(CountClass::kVector)]);
}

// Workgroups 0 and 1 load what the buffer has, the third one partly, the others nothing.
TEST_CASE("a profile counts the executions of which no lane is in range of its buffer") {
  Device device;
  Profile profile;
  const auto buffer = device.allocate<u32>(160);
  const KernelText text{.body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_movk_i32 s6, 640
  s_mov_b32 s7, 0x27000
  s_lshl_b32 s8, s2, 8
  v_lshl_add_u32 v1, v0, 2, s8
  s_waitcnt lgkmcnt(0)
  buffer_load_dword v2, v1, s[4:7], 0 offen
)",
                        .arguments = 1};
  device.launch(device.load(assemble(text), "kernel"), {.grid = {5, 1, 1}, .profile = &profile}, {buffer.address()});
  const auto count = by_mnemonic(profile.kernels().at(0));
  CHECK(count.at("buffer_load_dword").executions == 5);
  CHECK(count.at("buffer_load_dword").out_of_range == 2);
  CHECK(count.at("s_load_dwordx2").out_of_range == 0);
}

TEST_CASE("a profile's time is where the instructions are that were executed") {
  Device device;
  Profile profile;
  device.run({.body = kLoop}, {.profile = &profile}, {});
  const auto kernels = profile.kernels();
  double total = 0;
  for (const ProfiledInstruction& each : kernels.at(0).instructions) {
    CHECK(each.ticks >= 0);
    if (each.executions == 0) CHECK(each.ticks == 0);
    total += each.ticks;
  }
  CHECK(total > 0);
}

TEST_CASE("a profile keeps what a kernel did before it faulted, and kernels apart") {
  Device device;
  Profile profile;
  CHECK_THROWS_AS(
      device.run({.name = "trap", .body = "s_nop 0\n s_branch on\non:\n s_trap 2"}, {.profile = &profile}, {}),
      Failure);
  device.run({.name = "quiet", .body = "v_mov_b32 v1, 0"}, {.profile = &profile}, {});
  device.run({.name = "quiet", .body = "v_mov_b32 v1, 1"}, {.profile = &profile}, {});  // other code of the same name
  const auto kernels = profile.kernels();
  REQUIRE(kernels.size() == 3);
  CHECK(by_mnemonic(kernels[0]).at("s_branch").executions == 1);
  CHECK(kernels[1].launches == 1);
  CHECK(kernels[2].launches == 1);
  profile.clear();
  CHECK(profile.kernels().empty());
}

TEST_CASE("launches that nobody profiles leave no trace of themselves") {
  Device device;
  Profile profile;
  device.run({.body = kLoop}, {}, {});
  CHECK(profile.kernels().empty());
}

std::vector<TraceSpan> spans_of(const TracedLaunch& launch, SpanKind kind, u32 wave) {
  std::vector<TraceSpan> found;
  for (const TraceSpan& span : launch.spans) {
    if (span.kind == kind && span.wave == wave) found.push_back(span);
  }
  return found;
}

TEST_CASE("a trace shows the wave that comes first waiting at the barrier for the one that comes last") {
  Device device;
  Trace trace;
  // Wave 1 executes 50 instructions more than wave 0 before the barrier.
  const char* const body = R"(
  v_readfirstlane_b32 s4, v0
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc1 meet
.rept 50
  v_add_u32 v1, v0, v0
.endr
meet:
  s_barrier
  v_add_u32 v1, v0, v0
)";
  device.run({.body = body}, {.block = {128, 1, 1}, .trace = &trace}, {});
  const auto launches = trace.take();
  REQUIRE(launches.size() == 1);
  const TracedLaunch& launch = launches[0];
  CHECK(launch.rounds == 1);
  REQUIRE(launch.places.size() == 1);
  CHECK(launch.places[0].ended);
  const auto early = spans_of(launch, SpanKind::kBarrier, 0);
  REQUIRE(early.size() == 1);
  CHECK(early[0].begin == 4);  // three instructions and the barrier itself
  CHECK(early[0].length == 50);
  CHECK(spans_of(launch, SpanKind::kBarrier, 1).empty());
  for (const u32 wave : {0u, 1u}) {
    const auto runs = spans_of(launch, SpanKind::kRun, wave);
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].begin == 54);
    CHECK(runs[1].length == 2);  // v_add_u32, s_endpgm
  }
  const auto resident = spans_of(launch, SpanKind::kResident, kNoWave);
  REQUIRE(resident.size() == 1);
  CHECK(resident[0].begin == 0);
  CHECK(resident[0].length == 56);
}

TEST_CASE("a trace shows polling as one span that ends when the flag is there") {
  Device device;
  Trace trace;
  const auto flag = device.allocate<u32>(1);
  // Workgroup 0 polls; workgroup 1 sleeps three times, each until the next round, and sets the flag.
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 poll
  s_sleep 1
  s_nop 0
  s_sleep 1
  s_nop 0
  s_sleep 1
  global_store_dword v1, v2, s[4:5]
  s_endpgm
poll:
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32 vcc, 0, v3
  s_cbranch_vccnz done
  s_sleep 1
  s_branch poll
done:
)";
  device.run({.body = body}, {.grid = {2, 1, 1}, .trace = &trace}, {flag.address()});
  const TracedLaunch launch = trace.take().at(0);
  REQUIRE(launch.places.size() == 2);
  CHECK(launch.places[0].xcd != launch.places[1].xcd);
  std::vector<TraceSpan> polls, sleeps;
  for (const TraceSpan& span : launch.spans) {
    if (span.kind == SpanKind::kPoll) polls.push_back(span);
    if (span.kind == SpanKind::kSleep) sleeps.push_back(span);
  }
  REQUIRE(polls.size() == 1);
  CHECK(launch.places[polls[0].place].number == 0);
  REQUIRE(sleeps.size() == 3);
  for (const TraceSpan& sleep : sleeps) CHECK(launch.places[sleep.place].number == 1);
  // It polls from its first sleep to the round after the store.
  CHECK(polls[0].begin + polls[0].length >= sleeps[2].begin + sleeps[2].length);
  CHECK(polls[0].begin <= sleeps[0].begin + sleeps[0].length);
}

TEST_CASE("the room of a workgroup that has ended is the next one's in a trace, and launches do not overlap") {
  Device device;
  Trace trace;
  // A workgroup with all of a compute unit's LDS: one is resident on each.
  constexpr u32 kUnits = 256;
  const KernelText text{.body = "v_add_u32 v1, v0, v0", .lds_bytes = 160 * 1024, .arguments = 0};
  for (int i = 0; i < 2; ++i) device.run(text, {.grid = {2 * kUnits, 1, 1}, .trace = &trace}, {});
  const auto launches = trace.take();
  REQUIRE(launches.size() == 2);
  CHECK(launches[1].begin > launches[0].end);
  std::map<std::pair<u32, u32>, std::vector<TraceSpan>> by_unit;
  for (const TraceSpan& span : launches[0].spans) {
    const TracePlace& place = launches[0].places[span.place];
    if (span.kind == SpanKind::kResident) by_unit[{place.xcd, place.cu}].push_back(span);
  }
  std::size_t residents = 0;
  for (auto& [unit, spans] : by_unit) {
    residents += spans.size();
    std::ranges::sort(spans, {}, &TraceSpan::begin);
    for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i].begin >= spans[i - 1].begin + spans[i - 1].length);
  }
  CHECK(residents == 2 * kUnits);
  CHECK(trace.take().empty());
}

TEST_CASE("a deadlock's trace keeps its workgroups open to the end") {
  Device device;
  Trace trace;
  const char* const body = "s_cmp_eq_u32 s2, 0\n s_cbranch_scc1 stay\n s_endpgm\nstay:\n s_sleep 1\n s_branch stay";
  CHECK_THROWS_AS(device.run({.body = body}, {.grid = {2, 1, 1}, .trace = &trace}, {}), Failure);
  const TracedLaunch launch = trace.take().at(0);
  REQUIRE(launch.places.size() == 2);
  for (const TracePlace& place : launch.places) CHECK(place.ended == (place.number == 1));
  const auto resident = spans_of(launch, SpanKind::kResident, kNoWave);
  REQUIRE(resident.size() == 2);
  CHECK(std::ranges::any_of(resident, [&](const TraceSpan& span) { return span.begin + span.length == launch.end; }));
  CHECK(spans_of(launch, SpanKind::kPoll, 0).size() == 1);
}

}  // namespace
}  // namespace monojit::emulator::test
