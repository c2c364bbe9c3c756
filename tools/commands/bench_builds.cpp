#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/bench/benchmarks.h"
#include "tools/bench/builds.h"
#include "tools/bench/stage_report.h"
#include "tools/commands/commands.h"
#include "tools/group_run.h"
#include "tools/kernel_run.h"
#include "tools/report.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using Align = Table::Align;

struct Options {
  BuildsOptions builds;
  std::string seed = "1";
  bool json = false;
};

/// A counter of the emulator: its name in JSON and its column's head.
struct Counter {
  const char* name;
  const char* head;
  std::uint64_t runtime::EmulatorCounts::* value;
};

constexpr Counter kCounters[] = {
    {"wave_instructions", "EXECUTED", &runtime::EmulatorCounts::wave_instructions},
    {"vector", "VALU", &runtime::EmulatorCounts::vector},
    {"scalar", "SALU", &runtime::EmulatorCounts::scalar},
    {"scalar_memory", "SMEM", &runtime::EmulatorCounts::scalar_memory},
    {"vector_memory", "VMEM", &runtime::EmulatorCounts::vector_memory},
    {"lds", "LDS", &runtime::EmulatorCounts::lds},
    {"mfma", "MFMA", &runtime::EmulatorCounts::mfma},
    {"other", "OTHER", &runtime::EmulatorCounts::other},
};

/// Bytes that were moved, of one memory.
struct ByteCounter {
  const char* name;
  const char* loaded_head;
  const char* stored_head;
  runtime::MovedBytes runtime::EmulatorCounts::* value;
};

constexpr ByteCounter kByteCounters[] = {
    {"device", "LOADED B", "STORED B", &runtime::EmulatorCounts::device_bytes},
    {"lds", "LDS LOADED B", "LDS STORED B", &runtime::EmulatorCounts::lds_bytes},
};

/// The fields that the user gave and those without a default: a key's text has too many to stand in a table.
std::string short_name(const kernels::BuildKey& key) {
  std::string fields;
  for (std::size_t i = 0; i < key.values().size(); ++i) {
    const kernels::Field& field = key.family().fields[i];
    if (field.fallback && *field.fallback == key.values()[i]) continue;
    fields += fmt::format("{}{}={}", fields.empty() ? "" : ",", field.name, key.value_text(i));
  }
  return fmt::format("{}{{{}}}", key.family().name, fields);
}

Json run_json(const RunFigures& run) {
  Json json;
  for (const Counter& counter : kCounters) json["counters"][counter.name] = run.counts.*counter.value;
  for (const ByteCounter& counter : kByteCounters) {
    const runtime::MovedBytes& bytes = run.counts.*counter.value;
    json["bytes"][counter.name] = {{"loaded", bytes.loaded}, {"stored", bytes.stored}};
  }
  json["weight_bytes"] = run.weight_bytes ? Json(*run.weight_bytes) : Json(nullptr);
  json["floor_us"] = run.weight_bytes ? Json(floor_us(*run.weight_bytes)) : Json(nullptr);
  json["verified"] = run.verified ? Json(*run.verified) : Json(nullptr);
  json["stages"] = stages_json(run.stages);
  return json;
}

Json figures_json(const BuildFigures& figures) {
  Json json = {{"key", figures.key}, {"problem", figures.problem.empty() ? Json(nullptr) : Json(figures.problem)}};
  if (figures.instructions.empty()) return json;
  json["times_ms"] = {{"emit", figures.times_ms.emit},
                      {"codegen", figures.times_ms.codegen},
                      {"link", figures.times_ms.link},
                      {"cpu", figures.cpu_ms}};
  json["resources"] = resources_json(figures.resources);
  json["instructions"] = instruction_count(figures);
  for (const auto& [name, count] : figures.instructions) json["instructions_by_class"][name] = count;
  json["run"] = figures.run ? run_json(*figures.run) : Json(nullptr);
  return json;
}

Table build_table() {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"BUILD", "EMIT MS", "CODEGEN", "LINK", "CPU MS", "INSTS", "VGPR", "AGPR", "SGPR", "LDS B", "SCRATCH",
             "SPILLS", "CODE B"});
  return table;
}

std::vector<std::string> build_row(const std::string& name, const BuildFigures& figures) {
  const runtime::Resources& r = figures.resources;
  return {name,
          fmt::format("{:.1f}", figures.times_ms.emit),
          fmt::format("{:.1f}", figures.times_ms.codegen),
          fmt::format("{:.1f}", figures.times_ms.link),
          fmt::format("{:.1f}", figures.cpu_ms),
          std::to_string(instruction_count(figures)),
          std::to_string(r.vgpr),
          std::to_string(r.agpr),
          std::to_string(r.sgpr),
          std::to_string(r.lds_bytes),
          std::to_string(r.scratch_bytes),
          std::to_string(r.vgpr_spills + r.sgpr_spills),
          std::to_string(r.code_bytes)};
}

Table run_table() {
  std::vector<std::string> heads = {"RUN"};
  for (const Counter& counter : kCounters) heads.emplace_back(counter.head);
  for (const ByteCounter& counter : kByteCounters)
    heads.insert(heads.end(), {counter.loaded_head, counter.stored_head});
  heads.insert(heads.end(), {"WEIGHTS B", "FLOOR US", ""});
  std::vector<Align> alignments(heads.size(), Align::kRight);
  alignments.front() = alignments.back() = Align::kLeft;
  Table table(std::move(alignments));
  table.add(std::move(heads));
  return table;
}

std::vector<std::string> run_row(const std::string& name, const RunFigures& run) {
  std::vector<std::string> row = {name};
  for (const Counter& counter : kCounters) row.push_back(std::to_string(run.counts.*counter.value));
  for (const ByteCounter& counter : kByteCounters) {
    const runtime::MovedBytes& bytes = run.counts.*counter.value;
    row.insert(row.end(), {std::to_string(bytes.loaded), std::to_string(bytes.stored)});
  }
  row.push_back(run.weight_bytes ? std::to_string(*run.weight_bytes) : "-");
  row.push_back(run.weight_bytes ? fmt::format("{:.2f}", floor_us(*run.weight_bytes)) : "-");
  row.emplace_back(!run.verified ? "" : *run.verified ? "ok" : "WRONG");
  return row;
}

std::string scenario(const BuildsOptions& options) {
  return fmt::format("one launch on {}'s emulator, of a group one rank's share, tensors of seed {}", options.arch,
                     options.seed);
}

void print_tables(const std::vector<kernels::BuildKey>& keys, const std::vector<BuildFigures>& all,
                  const BuildsOptions& options) {
  Table builds = build_table();
  Table runs = run_table();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = short_name(keys[i]);
    if (!all[i].instructions.empty()) builds.add(build_row(name, all[i]));
    if (all[i].run) runs.add(run_row(name, *all[i].run));
  }
  print("{}", builds.text());
  if (runs.empty()) return;
  print("\n{}; wave-instructions by class; floor: weights at HBM's peak of {:.0f} TB/s\n{}", scenario(options),
        kHbmBytesPerSecond / 1e12, runs.text());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].run && !all[i].run->stages.empty())
      print("\nstages of {}, of one rank\n{}", short_name(keys[i]), stages_text(*all[i].run));
  }
}

void bench_builds(Options& options) {
  BuildsOptions& builds = options.builds;
  builds.seed = decimal("--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max());
  if (builds.arch.empty()) builds.arch = kBenchArch;
  if (builds.keys.empty()) builds.keys = default_builds();
  const std::vector<kernels::BuildKey> keys = parse_keys(builds.keys);
  for (const kernels::BuildKey& key : keys) kernels::validate(key, builds.arch);
  for (const kernels::BuildKey& key : keys) {
    if (runs_on_group(key.family())) reserve_group_devices();
  }
  std::vector<BuildFigures> all;
  for (const kernels::BuildKey& key : keys) {
    all.push_back(measure_build(key, builds));
    if (!all.back().problem.empty()) say(fmt::format("{}: {}", short_name(key), all.back().problem));
  }
  if (options.json) {
    Json list = Json::array();
    for (const BuildFigures& figures : all) list.push_back(figures_json(figures));
    print_json({{"arch", builds.arch},
                {"scenario", builds.run ? Json(scenario(builds)) : Json(nullptr)},
                {"builds", std::move(list)}});
  } else {
    print_tables(keys, all, builds);
  }
  for (const BuildFigures& figures : all) {
    if (!figures.problem.empty()) throw Failed();
  }
}

}  // namespace

void add_bench_builds(CLI::App& bench) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *bench.add_subcommand(
      "builds", "Tabulate what builds cost, take of the chip and execute on the emulator, with the floor beside them");
  command.add_option("KEY", options->builds.keys,
                     "builds to measure (default: K1 for 1, 2, 3, 8 and 16 tokens, with one and four index heads, "
                     "without and with the scorer; K2 for 1, 4 and 8 tokens)");
  command.add_option("--seed", options->seed, "of the tensors of the launch: a decimal number")->capture_default_str();
  command.add_option("--times", options->builds.times, "build each so often; the fastest counts")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command.add_flag("!--no-run", options->builds.run, "build only");
  command.add_flag("!--no-verify", options->builds.verify, "don't compare the launch with the reference");
  add_arch_flag(command, options->builds.arch);
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options, &bench] {
    if (bench.get_option("FILTER")->count() > 0)
      throw UserError("monojit bench builds takes no FILTER: write the keys of the builds behind builds");
    bench_builds(*options);
  });
}

}  // namespace monojit::tools
