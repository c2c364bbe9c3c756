#include "kernels/minimax_m3/k1/timeline.h"

#include <string>

#include <fmt/format.h>

#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {
namespace {

constexpr std::int64_t kTicksPerSecond = 100'000'000;  // of s_memrealtime

enum class Role { kGemv, kHead, kNorm, kOtherGemv, kScores };

/// Points of specification §12 behind the start.
enum Point : int { kSquaresKnown = 1, kActivationsReady, kProjectionPut, kHeadArrived, kBodyDone, kScoresDone };

Role role_of(const K1Key& key, int workgroup) {
  if (workgroup < kGemvTasks) return Role::kGemv;
  if (workgroup < kFirstHeadWorkgroup + kHeadTasks) return Role::kHead;
  if (key.tokens > kSelfNormTokens && workgroup < kFirstNormWorkgroup + key.tokens) return Role::kNorm;
  const bool other = workgroup >= kFirstOtherWorkgroup && workgroup < kFirstOtherWorkgroup + kOtherGemvTasks;
  return other && key.index_heads == kMaxIndexHeads ? Role::kOtherGemv : Role::kScores;
}

std::string task_name(int task) {
  if (task < kQHeads) return fmt::format("q{}", task);
  if (task == kKTask) return "k";
  if (task == kVTask) return "v";
  return task == kIndexQTask ? "index q" : "index k";
}

/// The index query head whose rows a GEMV workgroup of the other ones projects.
int other_index_head(const K1Key& key, int workgroup) {
  const int head = (workgroup - kFirstOtherWorkgroup) / kHeadRowGroups;
  return head >= key.index_own ? head + 1 : head;
}

std::string role(const BuildKey& build_key, int workgroup) {
  const K1Key key = k1_key(build_key);
  switch (role_of(key, workgroup)) {
    case Role::kGemv:
      return "GEMV " + task_name(workgroup / kHeadRowGroups);
    case Role::kHead:
      return "head " + task_name(workgroup - kFirstHeadWorkgroup);
    case Role::kNorm:
      return fmt::format("norm {}", workgroup - kFirstNormWorkgroup);
    case Role::kOtherGemv:
      return fmt::format("GEMV index q of head {}", other_index_head(key, workgroup));
    case Role::kScores:
      break;
  }
  return key.scorer ? "scores" : "no task";
}

/// What ends with kBodyDone; empty: nothing was done.
std::string_view end_of_body(Role role) {
  switch (role) {
    case Role::kHead:
      return "head: norm, RoPE, store";
    case Role::kNorm:
      return "norm: publish";
    case Role::kGemv:
    case Role::kOtherGemv:
      return "GEMV: done";
    case Role::kScores:
      break;
  }
  return "";
}

std::string_view stage(const BuildKey& build_key, int workgroup, int /*from*/, int to) {
  const K1Key key = k1_key(build_key);
  const Role role = role_of(key, workgroup);
  switch (to) {
    case kSquaresKnown:
      return "norm: sum of squares";
    case kActivationsReady:
      return key.tokens > kSelfNormTokens && role != Role::kNorm ? "GEMV: wait for activations" : "quantise";
    case kProjectionPut:
      return "projection";
    case kHeadArrived:
      return "head: wait for its row";
    case kBodyDone:
      return end_of_body(role);
    case kScoresDone:
      return key.scorer ? "scores" : "";
    default:
      return "unnamed";
  }
}

}  // namespace

std::optional<TimelineWords> k1_timeline(const BuildKey& key) {
  if (!k1_key(key).timeline) return std::nullopt;
  return TimelineWords{
      .argument = "tl", .points = kTimelinePoints, .ticks_per_second = kTicksPerSecond, .role = role, .stage = stage};
}

}  // namespace monojit::kernels::minimax_m3
