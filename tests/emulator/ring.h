// A token that goes round a group of ranks, with a time limit: what persistent kernels of several devices do.
#pragma once

#include <fmt/format.h>

#include "tests/emulator/assemble.h"

namespace monojit::emulator::test {

inline constexpr std::uint32_t kCameRound = 1;
inline constexpr std::uint32_t kTimeOut = 2;
inline constexpr std::uint32_t kFailed = 3;  ///< not the kernel's: its launch failed

inline constexpr std::uint32_t kRingSeconds = 10;
inline constexpr std::uint32_t kBriefSeconds = 2;

/// What a ring's kernel does in a turn before it waits for the token; the labels are those of all rings.
inline constexpr const char* kSendsFirst = R"(
  v_mov_b32 v3, s12
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 wait
  global_store_dword v1, v3, s[6:7] sc0 sc1
wait:
)";

/// And once the token has come, up to the next turn.
inline constexpr const char* kPassesOn = R"(
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 sent
  global_store_dword v1, v3, s[6:7] sc0 sc1
sent:
  s_add_u32 s12, s12, 1
  s_cmp_le_u32 s12, s10
  s_cbranch_scc1 turn
)";

/// Loads the arguments of the rings below.
inline constexpr const char* kLoadsArguments = R"(
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  s_load_dwordx2 s[14:15], s[0:1], 0x20
  v_mov_b32 v1, 0
  v_mov_b32 v6, 1
  s_waitcnt lgkmcnt(0)
)";

/// Rank 0 sends turn t to the next rank's mailbox and waits for it to come back; the others pass it on. Arguments: own
/// mailbox, next mailbox, rank, turns, result. The result is kCameRound, or kTimeOut when the token has not come within
/// so many seconds of the 100 MHz clock, counted from the start or, if `each_turn`, for every turn.
inline KernelText bounded_ring(std::uint32_t seconds = kRingSeconds, bool each_turn = false) {
  constexpr std::uint32_t kTicksASecond = 100'000'000;
  const std::string limit = fmt::format(R"(
  s_memrealtime s[16:17]
  s_waitcnt lgkmcnt(0)
  s_add_u32 s16, s16, {}
  s_addc_u32 s17, s17, 0
)",
                                        seconds * kTicksASecond);
  return {.name = "ring",
          .body = kLoadsArguments + limit + "s_mov_b32 s12, 1\nturn:\n" + (each_turn ? limit : "") + kSendsFirst + R"(
  global_load_dword v2, v1, s[4:5] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s13, v2
  s_cmp_ge_u32 s13, s12
  s_cbranch_scc1 arrived
  s_memrealtime s[18:19]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s18
  v_mov_b32 v5, s19
  v_cmp_gt_u64 vcc, s[16:17], v[4:5]
  s_sleep 2
  s_cbranch_vccnz wait
  v_mov_b32 v6, 2
  s_branch end
arrived:
)" + kPassesOn + R"(
end:
  global_store_dword v1, v6, s[14:15]
)",
          .arguments = 5};
}

/// The same without a time limit: it never reads the clock.
inline KernelText endless_ring() {
  return {.name = "ring",
          .body = std::string(kLoadsArguments) + "s_mov_b32 s12, 1\nturn:\n" + kSendsFirst + R"(
  s_sleep 2
  global_load_dword v2, v1, s[4:5] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s13, v2
  s_cmp_ge_u32 s13, s12
  s_cbranch_scc0 wait
)" + kPassesOn + R"(
  global_store_dword v1, v6, s[14:15]
)",
          .arguments = 5};
}

}  // namespace monojit::emulator::test
