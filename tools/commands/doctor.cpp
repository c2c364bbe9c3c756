#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cache/disk_store.h"
#include "cache/folder.h"
#include "cache/settings.h"
#include "runtime/compiler/compiler_loader.h"
#include "runtime/hip/device.h"
#include "toolchain_id.h"
#include "tools/commands/commands.h"
#include "tools/report.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

/// One thing that was looked for. `problem` is empty when all is well; it says what to do.
struct Finding {
  std::string found;
  std::string problem;
  Json details = Json::object();
};

/// What `look` finds; its exception becomes the problem.
Finding finding(const std::function<void(Finding&)>& look) {
  Finding result;
  try {
    look(result);
  } catch (const std::exception& error) {
    result.problem = error.what();
  }
  return result;
}

void look_for_compiler(Finding& result) {
  result.details["pinned"] = kPinnedToolchain;
  result.details["toolchain"] = nullptr;
  const std::string toolchain = runtime::Compiler::open()->toolchain();
  result.details["toolchain"] = toolchain;
  result.found = toolchain;
  if (toolchain != kPinnedToolchain) {
    result.found += fmt::format(" (this build is pinned to {}: kernels are cached under the former)", kPinnedToolchain);
  }
}

std::string version_text(int version) {  // major * 10^7 + minor * 10^5 + patch
  return fmt::format("{}.{}.{}", version / 10'000'000, version / 100'000 % 100, version % 100'000);
}

void look_for_devices(Finding& result, runtime::Provider provider) {
  result.details["library"] = nullptr;
  result.details["devices"] = Json::array();
  const auto table = runtime::HipTable::open(provider);
  result.details["library"] = table->library();
  const int count = runtime::device_count(*table);
  int version = 0;
  if (table->hipRuntimeGetVersion(&version) == hipSuccess) result.details["version"] = version_text(version);
  result.found = fmt::format("{}, {} device{}", table->library(), count, count == 1 ? "" : "s");
  for (int i = 0; i < count; ++i) {
    const runtime::Device device = runtime::Device::at(table, i);
    result.details["devices"].push_back({{"device", device.text()},
                                         {"name", device.name()},
                                         {"arch", device.arch()},
                                         {"compute_units", device.compute_units()},
                                         {"memory_bytes", device.memory()}});
    result.found +=
        fmt::format("\n{}: {}, {}, {} CUs", device.text(), device.name(), device.arch(), device.compute_units());
  }
}

void look_for_gpu(Finding& result) {
  look_for_devices(result, runtime::Provider::kHip);
  if (!result.details["devices"].empty()) return;
  result.problem = runtime::may_have_gpu()
                       ? "HIP finds no device: is the driver loaded, and is this user in the groups render and video?"
                       : "no AMD GPU driver here (/dev/kfd): kernels run on the emulator";
}

void look_for_cache(Finding& result, const std::string& flag) {
  const std::filesystem::path folder = cache_folder(flag);
  result.details["folder"] = folder.empty() ? Json(nullptr) : Json(folder.string());
  result.details["entries"] = 0;
  if (folder.empty()) throw UserError("no cache folder: set MONOJIT_CACHE_DIR");
  const cache::Warnings warnings([](std::string_view) {});  // the problem is told below
  const cache::Modes modes = cache::Settings::from_environment(warnings).modes_in(folder);
  const cache::DiskStore store(folder, warnings, {.modes = modes, .limits = {}});
  if (const auto problem = store.problem()) throw UserError(cache_advice(*problem, flag));
  const std::size_t entries = store.inventory().files.size();
  result.details["entries"] = entries;
  result.found = fmt::format("{}, {} entries", folder.string(), entries);
}

struct Row {
  const char* name;
  Finding finding;
  bool needed;  ///< without it, nothing can be built or run
};

struct Options {
  std::string folder;
  bool json = false;
};

void print_row(const Row& row) {
  const bool fine = row.finding.problem.empty();
  std::string text = row.finding.found;
  if (!fine) text += (text.empty() ? "" : "\n") + row.finding.problem;
  for (std::size_t line = text.find('\n'); line != std::string::npos; line = text.find('\n', line + 1)) {
    text.insert(line + 1, 22, ' ');
  }
  print("{:<9} {:<11} {}\n", row.name, fine ? "ok" : row.needed ? "PROBLEM" : "missing", text);
}

void doctor(const Options& options) {
  const Row rows[] = {
      {"compiler", finding(look_for_compiler), true},
      {"gpu", finding(look_for_gpu), false},
      {"emulator", finding([](Finding& result) { look_for_devices(result, runtime::Provider::kEmulator); }), false},
      {"cache", finding([&](Finding& result) { look_for_cache(result, options.folder); }), true},
  };
  const auto bad = [](const Row& row) { return !row.finding.problem.empty(); };
  // Either kind of device will do.
  const bool usable = !bad(rows[0]) && !(bad(rows[1]) && bad(rows[2])) && !bad(rows[3]);
  Json json = {{"version", MONOJIT_VERSION}, {"usable", usable}};
  for (const Row& row : rows) {
    Json entry = row.finding.details;
    entry["problem"] = bad(row) ? Json(row.finding.problem) : Json(nullptr);
    json[row.name] = std::move(entry);
    if (!options.json) print_row(row);
  }
  if (options.json) print_json(json);
  if (!usable) throw Failed();
}

}  // namespace

void add_doctor(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("doctor", "Show what was found on this machine, and what to do where something is missing");
  add_cache_folder_flag(command, options->folder);
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { doctor(*options); });
}

}  // namespace monojit::tools
