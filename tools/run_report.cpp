#include <algorithm>
#include <cmath>
#include <ranges>
#include <string>

#include <fmt/format.h>

#include "tools/kernel_run.h"
#include "tools/moved_bytes.h"

namespace monojit::tools {
namespace {

double rate(const runtime::EmulatorCounts& counts) {
  return counts.seconds > 0 ? static_cast<double>(counts.wave_instructions) / counts.seconds : 0;
}

/// JSON has no infinity and no NaN: those become text.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }

const char* source_text(cache::Source source) {
  switch (source) {
    case cache::Source::kBuilt:
      return "built";
    case cache::Source::kDisk:
      return "disk (found in the cache, nothing was compiled)";
    case cache::Source::kReadOnly:
      return "a read-only cache (nothing was compiled)";
    case cache::Source::kRemote:
      return "the remote cache (nothing was compiled)";
    case cache::Source::kMemory:
      return "memory";
  }
  return "?";
}

Json outputs_json(const std::vector<kernels::Comparison>& outputs) {
  Json list = Json::array();
  for (const kernels::Comparison& output : outputs) {
    list.push_back({{"name", output.name},
                    {"elements", output.elements},
                    {"mismatches", output.mismatches},
                    {"max_error", number(output.max_error)},
                    {"bound", number(output.bound)}});
  }
  return list;
}

Json failure_json(const LaunchFailure& failure, const std::string& place) {
  Json health = Json::array();
  for (const auto line : std::views::split(failure.health, '\n'))
    health.push_back(std::string(line.begin(), line.end()));
  return {{"place", place},
          {"health", std::move(health)},
          {"error", failure.error.empty() ? Json(nullptr) : Json(failure.error)}};
}

Json replays_json(const ReplayResult& replays) {
  return {{"count", replays.count},
          {"run_ms", replays.run_ms},
          {"values", replays.values()},
          {"mismatches", replays.mismatches()},
          {"resident_bytes", {{"first", replays.first_resident_bytes}, {"last", replays.last_resident_bytes}}}};
}

bool all_ok(const std::vector<kernels::Comparison>& outputs) {
  return std::ranges::all_of(outputs, &kernels::Comparison::ok);
}

Json layers_json(const std::vector<LaunchResult>& layers) {
  Json list = Json::array();
  for (const LaunchResult& layer : layers) {
    Json row;
    for (const auto& [name, value] : layer.place) row[name] = value;
    row["run_ms"] = layer.run_ms;
    if (layer.emulator) row["wave_instructions"] = layer.emulator->wave_instructions;
    row["outputs"] = outputs_json(layer.outputs);
    row["verified"] = all_ok(layer.outputs);
    list.push_back(std::move(row));
  }
  return list;
}

/// A row a layer: enough to see which one went wrong, and by what.
std::string layers_text(const std::vector<LaunchResult>& layers) {
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kLeft});
  table.add({"LAUNCH", "RUN MS", ""});
  for (const LaunchResult& layer : layers) {
    std::string wrong;
    for (const kernels::Comparison& output : layer.outputs) {
      if (!output.ok) wrong += (wrong.empty() ? "WRONG: " : ", ") + output.name;
    }
    table.add({place_text(layer.place), fmt::format("{:.1f}", layer.run_ms), wrong.empty() ? "ok" : wrong});
  }
  return table.text(2);
}

const char* verdict(const RunResult& result) {
  if (result.failure) return "FAILED";
  if (result.interrupted && !result.compared) return "INTERRUPTED: nothing was compared";
  if (result.interrupted && result.verified) return "INTERRUPTED: what was compared equals the host reference";
  if (!result.compared) return "not verified, as was asked for";
  return result.verified ? "verified: every output equals the host reference" : "NOT VERIFIED: outputs differ";
}

std::string outputs_text(const std::vector<kernels::Comparison>& outputs) {
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kRight, Table::Align::kRight,
               Table::Align::kRight, Table::Align::kLeft});
  table.add({"OUTPUT", "ELEMENTS", "MISMATCHES", "MAX ERROR", "BOUND", ""});
  for (const kernels::Comparison& output : outputs) {
    table.add({output.name, std::to_string(output.elements), std::to_string(output.mismatches),
               fmt::format("{:.3g}", output.max_error), fmt::format("{:.3g}", output.bound),
               output.ok ? "ok" : "WRONG"});
  }
  return table.text(2);
}

}  // namespace

std::string failure_text(const LaunchFailure& failure, const std::string& place) {
  std::string text = place.empty() ? "" : place + ": ";
  text += "the kernel gave up waiting; its outputs are garbage\n" + failure.health;
  return failure.error.empty() ? text : text + '\n' + failure.error;
}

Json resources_json(const runtime::Resources& resources) {
  return {{"vgpr", resources.vgpr},
          {"agpr", resources.agpr},
          {"sgpr", resources.sgpr},
          {"lds_bytes", resources.lds_bytes},
          {"scratch_bytes", resources.scratch_bytes},
          {"spills", resources.vgpr_spills + resources.sgpr_spills},
          {"code_bytes", resources.code_bytes}};
}

std::string resources_text(const runtime::Resources& resources) {
  return fmt::format("VGPR {}, AGPR {}, SGPR {}, LDS {} bytes, scratch {} bytes, spills {}, code {} bytes",
                     resources.vgpr, resources.agpr, resources.sgpr, resources.lds_bytes, resources.scratch_bytes,
                     resources.vgpr_spills + resources.sgpr_spills, resources.code_bytes);
}

Json to_json(const RunResult& result, const RunOptions& options) {
  Json json = {
      {"key", result.key}, {"arch", result.arch}, {"device", result.device}, {"cache", cache::name(result.source)}};
  json["times_ms"] = {{"emit", result.get_ms.emit},   {"codegen", result.get_ms.codegen}, {"link", result.get_ms.link},
                      {"store", result.get_ms.store}, {"load", result.load_ms},           {"run", result.run_ms}};
  json["resources"] = resources_json(result.resources);
  json["seed"] = options.seed;
  json["launches"] = result.launches;
  json["outputs"] = outputs_json(result.outputs);
  json["verified"] = result.compared || result.failure ? Json(result.verified) : Json(nullptr);
  json["failure"] = result.failure ? failure_json(*result.failure, result.failed_place) : Json(nullptr);
  if (result.interrupted) json["interrupted"] = true;
  if (result.emulator) {
    json["emulator"] = {{"wave_instructions", result.emulator->wave_instructions},
                        {"mfma", result.emulator->mfma},
                        {"bytes", moved_bytes_json(*result.emulator)},
                        {"seconds", result.emulator->seconds},
                        {"matrix_model", result.traits.matrix_model}};
  }
  if (result.replays) json["replays"] = replays_json(*result.replays);
  if (options.layers > 0) json["layers"] = layers_json(result.layers);
  if (!result.profile.is_null()) json["profile"] = result.profile;
  return json;
}

void print_text(const RunResult& result, const RunOptions& options) {
  print("kernel     {}\n", result.key);
  print("device     {} ({})\n", result.device, result.device_name);
  print("cache      {}\n", source_text(result.source));
  print(
      "times      emit {:.1f} ms, codegen {:.1f} ms, link {:.1f} ms, store {:.1f} ms, load {:.1f} ms, run {:.1f} ms\n",
      result.get_ms.emit, result.get_ms.codegen, result.get_ms.link, result.get_ms.store, result.load_ms,
      result.run_ms);
  print("resources  {}\n", resources_text(result.resources));
  if (result.emulator) {
    print("emulator   {} wave-instructions, {} of them MFMA, in {:.3f} s: {:.1f} M wave-instructions per second\n",
          result.emulator->wave_instructions, result.emulator->mfma, result.emulator->seconds,
          rate(*result.emulator) / 1e6);
    print("bytes      {}\n", moved_bytes_text(*result.emulator));
  }
  if (result.launches > 1) print("launches   {}, each on what the one before it left\n", result.launches);
  if (result.replays && result.replays->count > 0)
    print("replays    {}\n", progress_text(*result.replays, options.repeat - 2));
  if (options.layers > 0 && !result.layers.empty()) print("\n{}", layers_text(result.layers));
  print("\n{}", result.outputs.empty() ? "" : outputs_text(result.outputs) + '\n');
  if (!result.profile.is_null()) print("{}\n", profile_summary(result.profile));
  print("{}\n", verdict(result));
}

}  // namespace monojit::tools
