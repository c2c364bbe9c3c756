#include "runtime/kernel_record.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/json_words.h"
#include "runtime/strict_json.h"

namespace monojit::runtime {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Resources, vgpr, agpr, sgpr, lds_bytes, scratch_bytes, vgpr_spills, sgpr_spills,
                                   code_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ArgumentSlot, name, offset, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BuildTimes, emit, codegen, link)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelRecord, symbol, resources, arguments, kernarg_bytes, times_ms, ir_digest,
                                   warnings)

namespace {

/// Nothing here calls itself for what is in a value.
constexpr std::size_t kAnyDepth = std::numeric_limits<std::size_t>::max();

/// The library would cut a number that does not fit, and take true for 1.
void check_whole(const nlohmann::json& object) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  for (const auto& [name, value] : object.items()) {
    if (value.is_string() || value.is_structured()) continue;
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= kMost) continue;
    throw RecordError(
        fmt::format("its record can't be read: {} {} is no whole number up to {}", name, value.dump(), kMost));
  }
}

nlohmann::json parsed(std::string_view text) {
  if (const std::string problem = json_problem(text, kAnyDepth); !problem.empty())
    throw RecordError("its record can't be read: " + problem);
  return nlohmann::json::parse(text);
}

}  // namespace

std::string to_json_text(const KernelRecord& record) { return nlohmann::json(record).dump(); }

KernelRecord record_from_json(std::string_view text) {
  try {
    const nlohmann::json json = parsed(text);
    auto record = json.get<KernelRecord>();
    check_whole({{"kernarg_bytes", json["kernarg_bytes"]}});
    check_whole(json["resources"]);
    for (const nlohmann::json& argument : json["arguments"]) check_whole(argument);
    return record;
  } catch (const nlohmann::json::exception& error) {
    throw RecordError("its record can't be read: " + json_words(error));
  }
}

}  // namespace monojit::runtime
