#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tools/bench/benchmarks.h"
#include "tools/commands/commands.h"
#include "tools/report.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

struct Figure {
  std::string name;
  double value;
  std::string unit;
};

/// Keeps the figures in place of printing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) report(run);
  }

  std::vector<Figure> figures;
  bool failed = false;

 private:
  void report(const Run& run) {
    if (run.skipped != benchmark::internal::NotSkipped) {
      say(fmt::format("{}: {}", run.run_name.function_name, run.skip_message));
      failed = true;
    } else if (const auto rate = run.counters.find(kRate); rate != run.counters.end()) {
      figures.push_back({run.run_name.function_name, rate->second.value, "1/s"});
    } else if (const auto traffic = run.counters.find(kTraffic); traffic != run.counters.end()) {
      figures.push_back({run.run_name.function_name, traffic->second.value, "B/s loaded + stored"});
    } else if (const auto ratio = run.counters.find(kRatio); ratio != run.counters.end()) {
      figures.push_back({run.run_name.function_name, ratio->second.value, "x"});
    } else if (const auto bytes = run.counters.find(kBytes); bytes != run.counters.end()) {
      figures.push_back({run.run_name.function_name, bytes->second.value, "B"});
    } else {
      figures.push_back(
          {run.run_name.function_name, run.GetAdjustedRealTime(), benchmark::GetTimeUnitString(run.time_unit)});
    }
  }
};

struct Options {
  std::string filter = ".";
  bool json = false;
};

void print_figures(const std::vector<Figure>& figures, bool as_json) {
  Json list = Json::array();
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kLeft});
  table.add({"NAME", "VALUE", "UNIT"});
  for (const Figure& figure : figures) {
    list.push_back({{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}});
    table.add({figure.name, fmt::format("{:.4g}", figure.value), figure.unit});
  }
  if (as_json) {
    print_json(list);
  } else {
    print("{}", table.text());
  }
}

void bench(const Options& options) {
  register_build_benchmarks();
  register_cache_benchmarks();
  register_warm_benchmarks();
  register_start_benchmarks();
  register_launch_benchmarks();
  register_group_benchmarks();
  register_emulator_benchmarks();
  register_emulator_ratio_benchmarks();
  Collector collector;
  std::ostringstream remarks;  // of the library: we have our own words
  collector.SetErrorStream(&remarks);
  if (benchmark::RunSpecifiedBenchmarks(&collector, options.filter) == 0) {
    if (remarks.str().find("Could not compile") != std::string::npos) {
      throw UserError(fmt::format("'{}' is no valid regular expression", options.filter));
    }
    throw UserError(fmt::format("no benchmark's name matches '{}' (monojit bench runs all)", options.filter));
  }
  print_figures(collector.figures, options.json);
  if (collector.failed) throw Failed();
}

}  // namespace

void add_bench(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("bench", "Measure builds, cache, launch and emulator");
  command
      .add_option("FILTER", options->filter, "regular expression: the benchmarks whose names it matches (default: all)")
      ->check(not_empty());
  command.add_flag("--json", options->json, "print JSON");
  add_bench_builds(command);
  command.callback([options, &command] {
    if (command.get_subcommands().empty()) bench(*options);
  });
}

}  // namespace monojit::tools
