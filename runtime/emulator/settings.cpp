#include "runtime/emulator/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "environment/variables.h"
#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

using environment::Id;
using environment::name;

constexpr u64 kMostThreads = 256;
constexpr u64 kMostLimitSeconds = 1'000'000;

struct Option {
  std::string_view name;
  const char* variable;
  std::string_view possible;
  /// Reads a value of this option into the settings, or refuses it.
  void (*read)(Settings& settings, const Option& option, std::string_view value);
  bool by_name = false;  ///< the value comes from a call, not from the environment

  [[nodiscard]] std::string_view given_as() const { return by_name ? name : variable; }
};

[[noreturn]] void refuse(const Option& option, std::string_view value) {
  throw Failure(FailureKind::kNotInitialized,
                fmt::format("{}={}: not understood, use {}", option.given_as(), value, option.possible));
}

std::optional<u64> number_of(std::string_view value) {
  u64 number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) return std::nullopt;
  return number;
}

u64 parse_number(const Option& option, std::string_view value) {
  const auto number = number_of(value);
  if (!number) refuse(option, value);
  return *number;
}

u32 parse_count(const Option& option, std::string_view value, u64 most) {
  const u64 number = parse_number(option, value);
  if (number < 1 || number > most) refuse(option, value);
  return static_cast<u32>(number);
}

/// The value that goes by this name.
template <class T>
T choose(const Option& option, std::string_view value, std::initializer_list<std::pair<std::string_view, T>> choices) {
  for (const auto& [name, choice] : choices) {
    if (name == value) return choice;
  }
  refuse(option, value);
}

HostIsa parse_host_isa(const Option& option, std::string_view value) {
  const HostIsa isa = choose<HostIsa>(option, value, {{"avx2", HostIsa::kX86V3}, {"avx512", HostIsa::kX86V4}});
  if (!host_has(isa))
    throw Failure(FailureKind::kNotInitialized,
                  fmt::format("{}={}: this processor does not have it", option.given_as(), value));
  return isa;
}

/// "5", "1:5" or "1:*"; nothing for what is none of them.
std::optional<StalledWorkgroup> parse_stalled(std::string_view value) {
  const std::size_t colon = value.find(':');
  const std::string_view workgroup = colon == value.npos ? value : value.substr(colon + 1);
  const auto number = number_of(workgroup);
  const bool all = colon != value.npos && workgroup == "*";
  if (!number && !all) return std::nullopt;
  if (colon == value.npos) return StalledWorkgroup{.device = std::nullopt, .number = number};
  const auto device = number_of(value.substr(0, colon));
  if (!device || *device >= kMostDevices) return std::nullopt;
  return StalledWorkgroup{.device = static_cast<u32>(*device), .number = number};
}

std::vector<StalledWorkgroup> parse_stalled_list(const Option& option, std::string_view value) {
  std::vector<StalledWorkgroup> stalled;
  if (value.empty()) return stalled;
  for (const auto part : std::views::split(value, ',')) {
    const auto workgroup = parse_stalled(std::string_view(part.begin(), part.end()));
    if (!workgroup) refuse(option, value);
    stalled.push_back(*workgroup);
  }
  return stalled;
}

constexpr Option kOptions[] = {
    {"chip", name(Id::kEmulatorChip), "gfx950 (MI355X) or gfx942 (MI300X)",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.chip = choose<ChipLimits>(option, value, {{kMi355x.arch, kMi355x}, {kMi300x.arch, kMi300x}});
     }},
    {"devices", name(Id::kEmulatorDevices), "1..16",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.devices = parse_count(option, value, kMostDevices);
     }},
    {"threads", name(Id::kEmulatorThreads), "1..256",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.threads = parse_count(option, value, kMostThreads);
     }},
    {"matrix", name(Id::kEmulatorMatrix), "cdna3, fma-chain or exact",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.matrix = choose<MatrixModel>(
           option, value,
           {{"cdna3", MatrixModel::kCdna3}, {"fma-chain", MatrixModel::kFmaChain}, {"exact", MatrixModel::kExact}});
     }},
    {"memory", name(Id::kEmulatorMemory), "coherent or weak",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.memory =
           choose<MemoryMode>(option, value, {{"coherent", MemoryMode::kCoherent}, {"weak", MemoryMode::kWeak}});
     }},
    {"checks", name(Id::kEmulatorChecks), kCheckNames,
     [](Settings& settings, const Option& option, std::string_view value) {
       if (!parse_checks(value, settings.checks)) refuse(option, value);
     }},
    {"seed", name(Id::kEmulatorSeed), "an unsigned 64-bit number",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.seed = parse_number(option, value);
     }},
    {"alignment", name(Id::kEmulatorAlignment), "driver or strict",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.strict_alignment = choose<bool>(option, value, {{"driver", false}, {"strict", true}});
     }},
    {"host_isa", name(Id::kEmulatorHostIsa), "avx2 or avx512",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.host_isa = parse_host_isa(option, value);
     }},
    {"stall", name(Id::kEmulatorStall), "workgroups as NUMBER, DEVICE:NUMBER or DEVICE:*, separated by commas",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.stalled = parse_stalled_list(option, value);
     }},
    {"skew", name(Id::kEmulatorSkew), "an unsigned 64-bit number; 0: no skew",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.skew = parse_number(option, value);
     }},
    {"limit", name(Id::kEmulatorLimit), "seconds, 1..1000000",
     [](Settings& settings, const Option& option, std::string_view value) {
       settings.limit_seconds = parse_count(option, value, kMostLimitSeconds);
     }},
};

/// A name that is wrong by a letter would leave a check undone.
void refuse_unknown_variables() {
  constexpr std::string_view kPrefix = "MONOJIT_EMULATOR_";
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t name_bytes = text.find('=');
    if (!text.starts_with(kPrefix) || name_bytes == text.npos || name_bytes + 1 == text.size()) continue;
    const std::string_view name = text.substr(0, name_bytes);
    if (std::ranges::any_of(kOptions, [&](const Option& option) { return option.variable == name; })) continue;
    std::string names;
    for (const Option& option : kOptions) names += (names.empty() ? "" : ", ") + std::string(option.variable);
    throw Failure(FailureKind::kNotInitialized, fmt::format("{} is no setting; there are {}", name, names));
  }
}

std::string option_names() {
  std::string names;
  for (const Option& option : kOptions) names += (names.empty() ? "" : ", ") + std::string(option.name);
  return names;
}

}  // namespace

bool Settings::stalls(u32 device, u64 workgroup) const {
  return std::ranges::any_of(stalled, [&](const StalledWorkgroup& each) {
    return each.number.value_or(workgroup) == workgroup && each.device.value_or(device) == device;
  });
}

void check_together(const Settings& settings) {
  if (settings.skew != 0 && settings.devices < 2) {
    throw Failure(FailureKind::kNotInitialized,
                  fmt::format("{} is {}, but {} is 1: there is nobody to be ahead of", name(Id::kEmulatorSkew),
                              settings.skew, name(Id::kEmulatorDevices)));
  }
  for (const auto& [device, number] : settings.stalled) {
    if (device.value_or(0) < settings.devices) continue;
    throw Failure(FailureKind::kNotInitialized,
                  fmt::format("{} names {} of device {}, but {} is {}", name(Id::kEmulatorStall),
                              number ? fmt::format("workgroup {}", *number) : "all workgroups", *device,
                              name(Id::kEmulatorDevices), settings.devices));
  }
}

void apply_setting(Settings& settings, std::string_view name, std::string_view value) {
  for (Option option : kOptions) {
    option.by_name = true;
    if (option.name == name) return option.read(settings, option, value);
  }
  throw Failure(FailureKind::kInvalidValue,
                fmt::format("emulator option \"{}\" does not exist; there are {}", name, option_names()));
}

Settings settings_from_environment() {
  Settings settings;
  refuse_unknown_variables();
  for (const Option& option : kOptions) {
    const char* value = std::getenv(option.variable);
    if (value != nullptr && *value != '\0') option.read(settings, option, value);
  }
  return settings;
}

}  // namespace monojit::emulator
