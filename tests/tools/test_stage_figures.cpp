#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

#include "tools/bench/profiled_code.h"
#include "tools/bench/stage_figures.h"

namespace monojit::tools {
namespace {

constexpr std::string_view kStages[] = {"load", "sum"};

/// A kernel of the emulator's profile, an instruction added at a time.
class Code {
 public:
  Code& add(const std::string& text, const std::string& source, const char* instruction_class, std::uint64_t executions,
            std::uint64_t out_of_range = 0) {
    kernel_["instructions"].push_back({{"address", address_},
                                       {"text", text},
                                       {"source", source},
                                       {"class", instruction_class},
                                       {"executions", executions},
                                       {"out_of_range", out_of_range}});
    address_ += 4;
    return *this;
  }
  std::vector<CodeLine> lines() const { return profiled_code(kernel_); }

 private:
  Json kernel_ = {{"instructions", Json::array()}};
  std::uint64_t address_ = 0x100;
};

}  // namespace

TEST_CASE("loads, stores and LDS accesses are told apart by what they ask of the caches") {
  const auto lines = Code()
                         .add("global_load_dwordx4 v[0:3], v4, s[0:1] nt", "", "vector_memory", 1)
                         .add("buffer_load_dwordx2 v[0:1], v4, s[0:3], 0 offen sc1", "", "vector_memory", 1)
                         .add("buffer_load_dword v0, v4, s[0:3], 0 offen sc0 sc1", "", "vector_memory", 1)
                         .add("global_store_dwordx2 v4, v[0:1], s[0:1] sc0 sc1", "", "vector_memory", 1)
                         .add("global_store_short v4, v0, s[0:1]", "", "vector_memory", 1)
                         .add("s_load_dwordx8 s[0:7], s[8:9], 0x0", "", "scalar_memory", 1)
                         .add("ds_read2_b64 v[0:3], v4 offset1:8", "", "lds", 1)
                         .add("ds_write_b32 v4, v0", "", "lds", 1)
                         .lines();
  constexpr std::pair<Traffic, int> kExpected[] = {
      {Traffic::kStreamed, 1024}, {Traffic::kDevice, 512}, {Traffic::kSystem, 256},     {Traffic::kPushed, 512},
      {Traffic::kStored, 128},    {Traffic::kCached, 32},  {Traffic::kLdsLoaded, 1024}, {Traffic::kLdsStored, 256}};
  REQUIRE(lines.size() == std::size(kExpected));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(lines[i].mnemonic);
    CHECK(lines[i].traffic == kExpected[i].first);
    CHECK(lines[i].bytes == kExpected[i].second);
  }
}

TEST_CASE("what lies behind a buffer's end as a whole is executed, but moves no bytes") {
  const auto lines =
      Code()
          .add("buffer_load_dword v0, v1, s[0:3], 0 offen nt", "kernels/k/load.cpp:1", "vector_memory", 10, 3)
          .lines();
  const StageFigures sum = sum_of(stage_figures(lines, kStages));
  CHECK(sum.executed == 10);
  CHECK(sum.memory_loads == 10);
  CHECK(sum.moved(Traffic::kStreamed) == 7 * 256);
}

TEST_CASE("helpers' code counts for the stage around it, behind a barrier for the next one") {
  const auto lines = Code()
                         .add("s_mov_b32 s0, 0", "kernels/k/context.cpp:1", "scalar", 1)
                         .add("v_mov_b32 v0, 0", "kernels/k/load.cpp:1", "vector", 10)
                         .add("v_mov_b32 v1, 0", "kernels/k/mailbox.cpp:1", "vector", 100)
                         .add("s_barrier", "kernels/k/load.cpp:2", "other", 10)
                         .add("v_mov_b32 v2, 0", "kernels/k/mailbox.cpp:2", "vector", 1000)
                         .add("v_add_f32 v0, v1, v2", "kernels/k/sum.cpp:1", "vector", 10000)
                         .add("s_endpgm", "", "other", 1)
                         .lines();
  const auto stages = stage_figures(lines, kStages);
  REQUIRE(stages.size() == 3);
  CHECK(stages[0].name == "load");
  CHECK(stages[0].vector == 110);
  CHECK(stages[0].executed == 120);
  CHECK(stages[1].vector == 11000);
  CHECK(stages[2].name == "entry");
  CHECK(stages[2].scalar == 1);
  CHECK(sum_of(stages).instructions == 7);
}

TEST_CASE("helpers' code to which several stages lead counts for the next one, with its wait's loop") {
  constexpr std::string_view kThree[] = {"load", "sum", "pack"};
  const auto lines = Code()
                         .add("s_cbranch_vccnz 1", "kernels/k/load.cpp:1", "scalar", 1)  // past sum
                         .add("v_mov_b32 v0, 0", "kernels/k/sum.cpp:1", "vector", 1)
                         .add("v_mov_b32 v1, 0", "kernels/k/mailbox.cpp:1", "vector", 10)
                         .add("s_cbranch_vccnz 2", "kernels/k/mailbox.cpp:1", "scalar", 10)  // to the s_sleep
                         .add("v_mov_b32 v2, 0", "kernels/k/pack.cpp:1", "vector", 10)
                         .add("s_endpgm", "kernels/k/pack.cpp:2", "other", 1)
                         .add("s_sleep 1", "kernels/common/wait.cpp:1", "other", 100)
                         .add("s_cbranch_vccz 65534", "kernels/common/wait.cpp:2", "scalar", 100)
                         .add("s_branch 65531", "kernels/common/wait.cpp:2", "scalar", 1)  // back to pack
                         .lines();
  const auto stages = stage_figures(lines, kThree);
  CHECK(stages[0].executed == 1);
  CHECK(stages[0].retries == 0);
  CHECK(stages[1].executed == 1);
  CHECK(stages[2].vector == 20);
  CHECK(stages[2].retries == 200);
}

TEST_CASE("a wait's loop counts apart, for the stage that branches to it") {
  const auto lines =
      Code()
          .add("s_cbranch_vccnz 3", "kernels/k/load.cpp:1", "scalar", 1)  // to the s_sleep
          .add("s_barrier", "kernels/k/load.cpp:2", "other", 1)
          .add("v_mov_b32 v0, 0", "kernels/k/sum.cpp:1", "vector", 1)
          .add("s_endpgm", "kernels/k/sum.cpp:1", "other", 1)
          .add("s_sleep 1", "kernels/common/wait.cpp:1", "other", 7)
          .add("buffer_load_dword v0, v4, s[0:3], 0 sc1", "kernels/common/wait.cpp:2", "vector_memory", 7)
          .add("s_cbranch_vccz 65533", "kernels/common/wait.cpp:3", "scalar", 7)  // back to the s_sleep
          .add("s_branch 65529", "kernels/common/wait.cpp:3", "scalar", 1)        // to the s_barrier
          .lines();
  const auto stages = stage_figures(lines, kStages);
  CHECK(stages[0].retries == 21);
  CHECK(stages[0].executed == 3);
  CHECK(stages[0].moved(Traffic::kDevice) == 0);
  CHECK(stages[1].retries == 0);
  CHECK(stages[1].executed == 2);
}

TEST_CASE("bytes in flight are those of the loads before the first wait that waits") {
  const auto lines = Code()
                         .add("global_load_dwordx4 v[0:3], v4, s[0:1] nt", "kernels/k/load.cpp:1", "vector_memory", 1)
                         .add("global_load_dword v5, v4, s[0:1]", "kernels/k/load.cpp:1", "vector_memory", 1)
                         .add("s_waitcnt vmcnt(2)", "kernels/k/load.cpp:2", "other", 1)  // of nothing
                         .add("s_waitcnt vmcnt(1)", "kernels/k/load.cpp:2", "other", 1)
                         .add("s_waitcnt vmcnt(0)", "kernels/k/sum.cpp:2", "other", 1)
                         .lines();
  const auto stages = stage_figures(lines, kStages);
  CHECK(stages[0].in_flight == 1024 + 256);
  CHECK(stages[1].in_flight == 256);
}

}  // namespace monojit::tools
