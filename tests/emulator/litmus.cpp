#include "tests/emulator/litmus.h"

#include <fmt/format.h>

namespace monojit::emulator::test {
namespace {

constexpr std::uint32_t kVariableStride = 512;  // bytes: other lines
constexpr std::uint32_t kVariables = 3;
constexpr std::uint32_t kResults = 4;
constexpr std::uint32_t kXcds = 8;
constexpr std::uint32_t kPolls = 300;
constexpr std::uint32_t kLdsBytes = 64;

std::uint32_t offset_of(char variable) { return static_cast<std::uint32_t>(variable - 'x') * kVariableStride; }

/// s10 becomes the number of the wave in the test; waves that have none end.
std::string find_role(Apart apart, std::size_t waves) {
  switch (apart) {
    case Apart::kSameCu:  // a2: rotates the waves, as the first one of a workgroup always begins
      return fmt::format(R"(
  v_lshrrev_b32 v2, 6, v0
  v_readfirstlane_b32 s10, v2
  s_add_u32 s10, s10, s8
  s_cmp_ge_u32 s10, {0}
  s_cselect_b32 s11, {0}, 0
  s_sub_u32 s10, s10, s11
)",
                         waves);
    case Apart::kSameXcd:
      return fmt::format(R"(
  s_and_b32 s11, s2, {}
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 finish
  s_lshr_b32 s10, s2, 3
)",
                         kXcds - 1);
    case Apart::kOtherXcd:
      return "  s_mov_b32 s10, s2\n";
    case Apart::kOtherDevice:  // a2: the device
      return "  s_mov_b32 s10, s8\n";
  }
  return "";
}

std::string text_of(const Litmus& litmus) {
  std::string text = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_mov_b32 v1, 0
  v_mov_b32 v20, 0
  v_mov_b32 v21, 0
  v_mov_b32 v22, 0
  v_mov_b32 v23, 0
  s_waitcnt lgkmcnt(0)
)" + find_role(litmus.apart, litmus.waves.size()) +
                     "  s_mov_b64 exec, 1\n";
  for (std::size_t i = 0; i < litmus.waves.size(); ++i) {
    text += fmt::format("  s_cmp_eq_u32 s10, {0}\n  s_cbranch_scc1 wave_{0}\n", i);
  }
  text += "  s_branch finish\n";
  for (std::size_t i = 0; i < litmus.waves.size(); ++i) {
    text += fmt::format("wave_{}:\n{}  s_branch report\n", i, litmus.waves[i]);
  }
  return text + R"(
report:
  s_waitcnt vmcnt(0)
  s_lshl_b32 s10, s10, 4
  v_mov_b32 v2, s10
  global_store_dwordx4 v2, v[20:23], s[6:7]
finish:
)";
}

/// Different labels for each use.
std::uint32_t fresh_label() {
  static std::uint32_t last = 0;
  return ++last;
}

}  // namespace

const ScopeCode& workgroup_scope() {
  static const ScopeCode scope{"workgroup", "sc0", "", "", ""};
  return scope;
}
const ScopeCode& agent_scope() {
  static const ScopeCode scope{"agent", "sc1", "", "buffer_wbl2 sc1\n", "buffer_inv sc1\n"};
  return scope;
}
const ScopeCode& system_scope() {
  static const ScopeCode scope{"system", "sc0 sc1", "sc1", "buffer_wbl2 sc0 sc1\n", "buffer_inv sc0 sc1\n"};
  return scope;
}
const ScopeCode& scope_for(Apart apart) {
  switch (apart) {
    case Apart::kSameCu:
      return workgroup_scope();
    case Apart::kSameXcd:
    case Apart::kOtherXcd:
      return agent_scope();
    case Apart::kOtherDevice:
      break;
  }
  return system_scope();
}

std::string store(char variable, std::uint32_t value, const std::string& bits) {
  return fmt::format("  v_mov_b32 v30, {}\n  global_store_dword v1, v30, s[4:5] offset:{} {}\n", value,
                     offset_of(variable), bits);
}
std::string load(int result, char variable, const std::string& bits) {
  return fmt::format("  global_load_dword v{}, v1, s[4:5] offset:{} {}\n", 20 + result, offset_of(variable), bits);
}
std::string load_to_lds(char variable) {  // the offset counts in LDS too
  return fmt::format("  v_mov_b32 v31, {0}\n  s_mov_b32 m0, 0\n  global_load_lds_dword v31, s[4:5]\n",
                     offset_of(variable));
}
std::string add(char variable, std::uint32_t value, const std::string& bits) {
  return fmt::format("  v_mov_b32 v30, {}\n  global_atomic_add v1, v30, s[4:5] offset:{} {}\n", value,
                     offset_of(variable), bits);
}
std::string release(const ScopeCode& scope) { return scope.write_back + kWait; }
std::string acquire(const ScopeCode& scope) { return kWait + scope.invalidate; }

std::string poll(char variable, std::uint32_t value, const std::string& bits) {
  return fmt::format(R"(
  s_movk_i32 s20, {0}
poll_{1}:
  global_load_dword v24, v1, s[4:5] offset:{2} {3}
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s21, v24
  s_cmp_ge_u32 s21, {4}
  s_cbranch_scc1 seen_{1}
  s_sleep 1
  s_sub_u32 s20, s20, 1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 poll_{1}
  v_mov_b32 v23, 1
seen_{1}:
)",
                     kPolls, fresh_label(), offset_of(variable), bits, value);
}

std::map<Outcome, std::uint32_t> outcomes(const Litmus& litmus, std::uint32_t seeds) {
  const auto waves = static_cast<std::uint32_t>(litmus.waves.size());
  Settings settings;
  settings.memory = MemoryMode::kWeak;
  settings.devices = litmus.apart == Apart::kOtherDevice ? waves : 1;
  Device device(settings);
  const std::size_t words = (litmus.untouched ? kSmallestSkipped : kVariables * kVariableStride) / 4;
  auto variables = device.allocate<std::uint32_t>(words, litmus.kind);
  const auto results = device.allocate<std::uint32_t>(waves * kResults);
  const Kernel& kernel =
      device.load(assemble({.body = text_of(litmus), .lds_bytes = kLdsBytes, .arguments = 3}), "kernel");
  Shape shape;
  if (litmus.apart == Apart::kSameCu) shape.block = {64 * waves, 1, 1};
  if (litmus.apart == Apart::kSameXcd) shape.grid = {kXcds * waves, 1, 1};
  if (litmus.apart == Apart::kOtherXcd) shape.grid = {waves, 1, 1};
  std::map<Outcome, std::uint32_t> seen;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    if (litmus.untouched) {
      device.release(variables.data);
      variables = device.allocate<std::uint32_t>(words, litmus.kind);
    }
    std::ranges::fill(variables.all(), 0u);
    for (std::uint32_t i = 0; i < kVariables; ++i) variables[i * kVariableStride / 4] = litmus.initial[i];
    device.set_seed(seed);
    if (litmus.apart == Apart::kOtherDevice) {
      std::vector<std::vector<std::uint64_t>> arguments;
      for (std::uint32_t i = 0; i < waves; ++i) arguments.push_back({variables.address(), results.address(), i});
      device.launch_on_all(kernel, shape, arguments);
    } else {
      device.launch(kernel, shape, {variables.address(), results.address(), seed % waves});
    }
    ++seen[{results.data, results.data + results.count}];
  }
  return seen;
}

std::uint32_t count(const std::map<Outcome, std::uint32_t>& outcomes,
                    const std::function<bool(const Outcome&)>& wanted) {
  std::uint32_t sum = 0;
  for (const auto& [outcome, times] : outcomes) sum += wanted(outcome) ? times : 0;
  return sum;
}

}  // namespace monojit::emulator::test
