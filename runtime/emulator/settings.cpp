#include "runtime/emulator/settings.h"

#include <charconv>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

constexpr u64 kMostThreads = 256;

struct Option {
  std::string_view name;
  const char* variable;
  std::string_view possible;
};

constexpr Option kOptions[] = {
    {"chip", "MONOJIT_EMULATOR_CHIP", "gfx950 (MI355X) or gfx942 (MI300X)"},
    {"devices", "MONOJIT_EMULATOR_DEVICES", "1..16"},
    {"threads", "MONOJIT_EMULATOR_THREADS", "1..256"},
    {"matrix", "MONOJIT_EMULATOR_MATRIX", "cdna3, fma-chain or exact"},
    {"memory", "MONOJIT_EMULATOR_MEMORY", "coherent or weak"},
    {"checks", "MONOJIT_EMULATOR_CHECKS", kCheckNames},
    {"seed", "MONOJIT_EMULATOR_SEED", "an unsigned 64-bit number"},
    {"alignment", "MONOJIT_EMULATOR_ALIGNMENT", "driver or strict"},
    {"host_isa", "MONOJIT_EMULATOR_HOST_ISA", "avx2 or avx512"},
};

[[noreturn]] void refuse(const Option& option, std::string_view value) {
  throw Failure(FailureKind::kNotInitialized,
                fmt::format("{}={}: not understood, use {}", option.variable, value, option.possible));
}

u64 parse_number(const Option& option, std::string_view value) {
  u64 number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) refuse(option, value);
  return number;
}

HostIsa parse_host_isa(const Option& option, std::string_view value) {
  if (value != "avx2" && value != "avx512") refuse(option, value);
  const HostIsa isa = value == "avx2" ? HostIsa::kX86V3 : HostIsa::kX86V4;
  if (!host_has(isa))
    throw Failure(FailureKind::kNotInitialized,
                  fmt::format("{}={}: this processor does not have it", option.variable, value));
  return isa;
}

void apply(Settings& settings, const Option& option, std::string_view value) {
  if (option.name == "chip") {
    if (value == kMi355x.arch) {
      settings.chip = kMi355x;
    } else if (value == kMi300x.arch) {
      settings.chip = kMi300x;
    } else {
      refuse(option, value);
    }
  } else if (option.name == "devices") {
    const u64 devices = parse_number(option, value);
    if (devices < 1 || devices > kMostDevices) refuse(option, value);
    settings.devices = static_cast<u32>(devices);
  } else if (option.name == "threads") {
    const u64 threads = parse_number(option, value);
    if (threads < 1 || threads > kMostThreads) refuse(option, value);
    settings.threads = static_cast<u32>(threads);
  } else if (option.name == "matrix") {
    if (value == "cdna3") {
      settings.matrix = MatrixModel::kCdna3;
    } else if (value == "fma-chain") {
      settings.matrix = MatrixModel::kFmaChain;
    } else if (value == "exact") {
      settings.matrix = MatrixModel::kExact;
    } else {
      refuse(option, value);
    }
  } else if (option.name == "memory") {
    if (value == "coherent") {
      settings.memory = MemoryMode::kCoherent;
    } else if (value == "weak") {
      settings.memory = MemoryMode::kWeak;
    } else {
      refuse(option, value);
    }
  } else if (option.name == "alignment") {
    if (value != "driver" && value != "strict") refuse(option, value);
    settings.strict_alignment = value == "strict";
  } else if (option.name == "checks") {
    if (!parse_checks(value, settings.checks)) refuse(option, value);
  } else if (option.name == "host_isa") {
    settings.host_isa = parse_host_isa(option, value);
  } else {
    settings.seed = parse_number(option, value);
  }
}

std::string option_names() {
  std::string names;
  for (const Option& option : kOptions) names += (names.empty() ? "" : ", ") + std::string(option.name);
  return names;
}

}  // namespace

void apply_setting(Settings& settings, std::string_view name, std::string_view value) {
  for (const Option& option : kOptions) {
    if (option.name == name) return apply(settings, option, value);
  }
  throw Failure(FailureKind::kInvalidValue,
                fmt::format("emulator option \"{}\" does not exist; there are {}", name, option_names()));
}

Settings settings_from_environment() {
  Settings settings;
  for (const Option& option : kOptions) {
    const char* value = std::getenv(option.variable);
    if (value != nullptr && *value != '\0') apply(settings, option, value);
  }
  return settings;
}

}  // namespace monojit::emulator
