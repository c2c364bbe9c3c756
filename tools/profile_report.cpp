#include "tools/profile_report.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "runtime/hip/emulator_extras.h"
#include "tools/output_file.h"

namespace monojit::tools {
namespace {

using Align = Table::Align;

constexpr std::size_t kHotInstructions = 20;
constexpr std::size_t kHotLines = 10;

/// Executions and time of what belongs together.
struct Sum {
  std::uint64_t executions = 0;
  double share = 0;
};

std::uint64_t executions_of(const Json& instruction) {
  const Json& count = instruction["executions"];
  return count.is_null() ? 0 : count.get<std::uint64_t>();
}

/// Sums over the instructions of a kernel by a text of each, what was executed most first.
std::vector<std::pair<std::string, Sum>> sums_by(const Json& kernel, const char* field) {
  std::map<std::string, Sum> sums;
  for (const Json& instruction : kernel["instructions"]) {
    Sum& sum = sums[instruction[field].get<std::string>()];
    sum.executions += executions_of(instruction);
    sum.share += instruction["time_share"].get<double>();
  }
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& each) { return each.second.executions; });
  std::erase_if(sorted, [](const auto& each) { return each.second.executions == 0; });
  return sorted;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::vector<std::string> row(const Json& instruction) {
  const Json& count = instruction["executions"];
  return {count.is_null() ? "-" : std::to_string(count.get<std::uint64_t>()),
          percent(instruction["time_share"].get<double>()),
          fmt::format("{:#x}", instruction["address"].get<std::uint64_t>()), instruction["text"].get<std::string>(),
          instruction["source"].get<std::string>()};
}

Table instruction_table() {
  Table table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.add({"EXECUTED", "TIME", "ADDRESS", "INSTRUCTION", "SOURCE"});
  return table;
}

std::string hot_instructions(const Json& kernel) {
  std::vector<const Json*> hot;
  for (const Json& instruction : kernel["instructions"]) {
    if (executions_of(instruction) > 0) hot.push_back(&instruction);
  }
  std::ranges::stable_sort(hot, std::ranges::greater(), [](const Json* each) { return executions_of(*each); });
  hot.resize(std::min(hot.size(), kHotInstructions));
  Table table = instruction_table();
  for (const Json* each : hot) table.add(row(*each));
  return table.text(2);
}

std::string sums_text(const std::vector<std::pair<std::string, Sum>>& sums, const char* title, std::size_t most) {
  Table table({Align::kRight, Align::kRight, Align::kLeft});
  table.add({"EXECUTED", "TIME", title});
  for (std::size_t i = 0; i < std::min(sums.size(), most); ++i) {
    const auto& [name, sum] = sums[i];
    table.add({std::to_string(sum.executions), percent(sum.share), name.empty() ? "(no source line)" : name});
  }
  return table.text(2);
}

std::string heading(const Json& kernel) {
  const auto launches = kernel["launches"].get<std::uint64_t>();
  return fmt::format("profile of {}, {} launch{}; time is the emulator's on this machine\n",
                     kernel["kernel"].get<std::string>(), launches, launches == 1 ? "" : "es");
}

}  // namespace

void add_profile_flag(CLI::App& command, ProfileFlags& flags) {
  const auto set = [&flags](const CLI::results_t& values) {
    flags.on = true;
    if (!values.empty() && values[0] != "{}") flags.file = values[0];
    return true;
  };
  command
      .add_option("--profile", set, "count every instruction; FILE gets the whole listing (JSON if it ends in .json)")
      ->expected(0, 1)
      ->type_name("[FILE]");
}

ProfiledLaunches::ProfiledLaunches(const runtime::HipTable& hip, const ProfileFlags& flags) : hip_(hip), flags_(flags) {
  if (!flags_.on) return;
  if (hip_.provider() != runtime::Provider::kEmulator)
    throw UserError("--profile counts on the emulator only: add --device emulator");
  if (!flags_.file.empty()) check_output_file(flags_.file);
  runtime::set_emulator_profiling(hip_, true);
}

ProfiledLaunches::~ProfiledLaunches() {
  if (flags_.on) runtime::set_emulator_profiling(hip_, false);
}

Json ProfiledLaunches::take() {
  if (!flags_.on) return nullptr;
  Json kernels = Json::parse(runtime::take_emulator_profile(hip_))["kernels"];
  if (!flags_.file.empty()) {
    const bool json = std::filesystem::path(flags_.file).extension() == ".json";
    const std::string text = json ? kernels.dump(2) + '\n' : profile_listing(kernels);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    replace_file(flags_.file, {&bytes, 1});
  }
  return kernels;
}

std::string profile_summary(const Json& kernels) {
  std::string text;
  for (const Json& kernel : kernels) {
    text += heading(kernel) + hot_instructions(kernel) + '\n';
    text += sums_text(sums_by(kernel, "class"), "CLASS", kHotLines) + '\n';
    text += sums_text(sums_by(kernel, "source"), "SOURCE LINE", kHotLines);
  }
  return text;
}

std::string profile_listing(const Json& kernels) {
  std::string text;
  for (const Json& kernel : kernels) {
    Table table = instruction_table();
    for (const Json& instruction : kernel["instructions"]) table.add(row(instruction));
    text += heading(kernel) + table.text(2);
  }
  return text;
}

}  // namespace monojit::tools
