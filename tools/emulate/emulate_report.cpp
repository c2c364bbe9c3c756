#include <cmath>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/emulate/emulation.h"
#include "tools/moved_bytes.h"

namespace monojit::tools {
namespace {

using Align = Table::Align;

/// JSON has no infinity and no NaN: those become text.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }

std::string sizes(const std::array<std::uint32_t, 3>& xyz) { return fmt::format("{}", fmt::join(xyz, " x ")); }

std::uint64_t product(const std::array<std::uint32_t, 3>& xyz) { return std::uint64_t{xyz[0]} * xyz[1] * xyz[2]; }

Json resources_of(const KernelInfo& kernel) {
  return {{"vgpr", kernel.vgprs},
          {"agpr", kernel.agprs},
          {"sgpr", kernel.sgprs},
          {"lds_bytes", kernel.lds_bytes},
          {"scratch_bytes", kernel.scratch_bytes}};
}

std::string resources_line(const KernelInfo& kernel) {
  return fmt::format("VGPR {}, AGPR {}, SGPR {}, LDS {} bytes, scratch {} bytes", kernel.vgprs, kernel.agprs,
                     kernel.sgprs, kernel.lds_bytes, kernel.scratch_bytes);
}

Json arguments_json(const KernelInfo& kernel) {
  if (!kernel.described) return nullptr;
  Json list = Json::array();
  for (const KernelArgument& argument : kernel.arguments) {
    list.push_back({{"name", argument.name},
                    {"kind", argument.kind},
                    {"type", argument.type},
                    {"bytes", argument.bytes},
                    {"offset", argument.offset}});
  }
  return list;
}

Json counts_json(const runtime::EmulatorCounts& counts) {
  return {{"wave_instructions", counts.wave_instructions},
          {"vector", counts.vector},
          {"scalar", counts.scalar},
          {"scalar_memory", counts.scalar_memory},
          {"vector_memory", counts.vector_memory},
          {"lds", counts.lds},
          {"mfma", counts.mfma},
          {"other", counts.other},
          {"mfma_with_partial_exec", counts.mfma_with_partial_exec},
          {"buffer_parts_out_of_range", counts.buffer_parts_out_of_range},
          {"bytes", moved_bytes_json(counts)},
          {"seconds", counts.seconds}};
}

Json buffer_json(const BufferResult& buffer) {
  Json json = {{"name", buffer.name},
               {"dtype", buffer.dtype},
               {"shape", buffer.shape},
               {"least", number(buffer.least)},
               {"largest", number(buffer.largest)},
               {"nans", buffer.nans},
               {"output", buffer.output.empty() ? Json(nullptr) : Json(buffer.output)},
               {"expect", nullptr}};
  if (!buffer.compared) return json;
  Json differences = Json::array();
  for (const Difference& each : buffer.differences)
    differences.push_back({{"index", each.index}, {"value", each.value}, {"expected", each.expected}});
  json["expect"] = {{"file", buffer.expect},
                    {"mismatches", buffer.mismatches},
                    {"max_error", number(buffer.max_error)},
                    {"differences", std::move(differences)}};
  return json;
}

std::string buffers_text(const std::vector<BufferResult>& buffers) {
  Table table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
               Align::kRight, Align::kLeft});
  table.add({"BUFFER", "DTYPE", "SHAPE", "LEAST", "LARGEST", "NANS", "MISMATCHES", "MAX ERROR", ""});
  for (const BufferResult& buffer : buffers) {
    std::string verdict = !buffer.compared ? "" : buffer.mismatches == 0 ? "ok" : "WRONG";
    table.add({buffer.name, buffer.dtype, shape_text(buffer.shape), fmt::format("{:.6g}", buffer.least),
               fmt::format("{:.6g}", buffer.largest), std::to_string(buffer.nans),
               buffer.compared ? std::to_string(buffer.mismatches) : "-",
               buffer.compared ? fmt::format("{:.3g}", buffer.max_error) : "-", std::move(verdict)});
  }
  return table.text(2);
}

void print_buffers(const EmulateResult& result) {
  if (result.buffers.empty()) {
    print("\nno buffer has an \"output\" or an \"expect\": what the kernel wrote is not shown\n");
    return;
  }
  print("\n{}", buffers_text(result.buffers));
  for (const BufferResult& buffer : result.buffers) {
    for (const Difference& each : buffer.differences)
      print("  {}[{}] is {}, expected {}\n", buffer.name, each.index, each.value, each.expected);
    if (!buffer.output.empty()) {
      print("  {} -> {}{}\n", buffer.name, buffer.output,
            buffer.bits_only ? fmt::format(" (NumPy has no {}: the file holds its bits)", buffer.dtype) : "");
    }
  }
}

void print_counts(const EmulateOptions& options, const runtime::EmulatorCounts& counts) {
  print("executed   {} wave-instructions: VALU {}, SALU {}, SMEM {}, VMEM {}, LDS {}, MFMA {}, other {}\n",
        counts.wave_instructions, counts.vector, counts.scalar, counts.scalar_memory, counts.vector_memory, counts.lds,
        counts.mfma, counts.other);
  print("bytes      {}\n", moved_bytes_text(counts));
  if (counts.mfma_with_partial_exec > 0)
    print("           {} MFMAs ran with an EXEC that was not all ones, which a chip ignores\n",
          counts.mfma_with_partial_exec);
  if (counts.buffer_parts_out_of_range > 0)
    print("           {} lanes or dwords of buffer accesses were out of range\n", counts.buffer_parts_out_of_range);
  print("time       {:.3f} s of this machine{}\n", counts.seconds,
        options.repeat > 1 ? fmt::format(" for {} launches", options.repeat) : "");
}

}  // namespace

Json to_json(const EmulateOptions& options, const EmulateResult& result) {
  Json json = {{"file", options.file.string()},
               {"arch", result.arch},
               {"kernel", result.kernel.name},
               {"device", result.device},
               {"matrix_model", result.matrix_model},
               {"grid", options.grid},
               {"block", result.block},
               {"dynamic_lds_bytes", result.dynamic_lds},
               {"launches", options.repeat},
               {"workgroups_per_cu", result.workgroups_per_cu}};
  json["resources"] = resources_of(result.kernel);
  json["counters"] = counts_json(result.counts);
  json["buffers"] = Json::array();
  for (const BufferResult& buffer : result.buffers) json["buffers"].push_back(buffer_json(buffer));
  if (!result.profile.is_null()) json["profile"] = result.profile;
  json["verified"] = result.compared() ? Json(result.mismatches() == 0) : Json(nullptr);
  return json;
}

void print_text(const EmulateOptions& options, const EmulateResult& result) {
  print("kernel     {} of {}\n", result.kernel.name, options.file.string());
  print("device     {}\n", result.device);
  print("launch     grid {}, block {}, {} bytes of dynamic LDS: {} workgroups, {} at once on a CU\n",
        sizes(options.grid), sizes(result.block), result.dynamic_lds, product(options.grid), result.workgroups_per_cu);
  print("resources  {}\n", resources_line(result.kernel));
  print_counts(options, result.counts);
  print_buffers(result);
  if (!result.profile.is_null()) print("\n{}", profile_summary(result.profile));
  if (!result.compared()) return;
  const std::uint64_t mismatches = result.mismatches();
  print("\n{}\n", mismatches == 0 ? "verified: every buffer is as expected"
                                  : fmt::format("NOT VERIFIED: {} elements differ", mismatches));
}

Json to_json(const CodeObject& object) {
  Json kernels = Json::array();
  for (const KernelInfo& kernel : object.kernels) {
    const bool required = kernel.required_workgroup[0] != 0;
    kernels.push_back({{"name", kernel.name},
                       {"resources", resources_of(kernel)},
                       {"max_workgroup", kernel.max_workgroup},
                       {"required_workgroup", required ? Json(kernel.required_workgroup) : Json(nullptr)},
                       {"occupancy",
                        {{"work_items", kernel.occupancy_items},
                         {"workgroups_per_cu", kernel.workgroups_per_cu},
                         {"limit", kernel.occupancy_limit}}},
                       {"arguments", arguments_json(kernel)},
                       {"hidden_arguments", kernel.hidden_arguments}});
  }
  return {{"arch", object.arch}, {"kernels", std::move(kernels)}};
}

void print_text(const CodeObject& object) {
  print("{}, {} kernel{}\n", object.arch, object.kernels.size(), object.kernels.size() == 1 ? "" : "s");
  for (const KernelInfo& kernel : object.kernels) {
    print("\n{}\n", kernel.name);
    print("  {}\n", resources_line(kernel));
    print("  workgroups of {} {} work-items; of {}, a CU holds {} at once (limited by {})\n",
          kernel.required_workgroup[0] != 0 ? "exactly" : "up to", kernel.max_workgroup, kernel.occupancy_items,
          kernel.workgroups_per_cu, kernel.occupancy_limit);
    print("  {}\n", argument_list(kernel));
    if (kernel.hidden_arguments > 0)
      print("  and {} hidden ones, which the emulator fills in\n", kernel.hidden_arguments);
  }
}

}  // namespace monojit::tools
