#include <cmath>
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
    case cache::Source::kMemory:
      return "memory";
  }
  return "?";
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

Json to_json(const RunResult& result) {
  Json json = {
      {"key", result.key}, {"arch", result.arch}, {"device", result.device}, {"cache", cache::name(result.source)}};
  json["times_ms"] = {{"emit", result.get_ms.emit},   {"codegen", result.get_ms.codegen}, {"link", result.get_ms.link},
                      {"store", result.get_ms.store}, {"load", result.load_ms},           {"run", result.run_ms}};
  json["resources"] = resources_json(result.resources);
  json["outputs"] = Json::array();
  for (const kernels::Comparison& output : result.outputs) {
    json["outputs"].push_back({{"name", output.name},
                               {"elements", output.elements},
                               {"mismatches", output.mismatches},
                               {"max_error", number(output.max_error)},
                               {"bound", number(output.bound)}});
  }
  json["verified"] = result.verified;
  if (result.emulator) {
    json["emulator"] = {{"wave_instructions", result.emulator->wave_instructions},
                        {"mfma", result.emulator->mfma},
                        {"bytes", moved_bytes_json(*result.emulator)},
                        {"seconds", result.emulator->seconds},
                        {"matrix_model", result.traits.matrix_model}};
  }
  if (!result.profile.is_null()) json["profile"] = result.profile;
  return json;
}

void print_text(const RunResult& result) {
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
  print("\n{}\n", outputs_text(result.outputs));
  if (!result.profile.is_null()) print("{}\n", profile_summary(result.profile));
  print("{}\n", result.verified ? "verified: every output equals the host reference" : "NOT VERIFIED: outputs differ");
}

}  // namespace monojit::tools
