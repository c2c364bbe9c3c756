#include "runtime/kernel_record.h"

#include <nlohmann/json.hpp>

#include "runtime/json_words.h"

namespace monojit::runtime {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Resources, vgpr, agpr, sgpr, lds_bytes, scratch_bytes, vgpr_spills, sgpr_spills,
                                   code_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ArgumentSlot, name, offset, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BuildTimes, emit, codegen, link)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelRecord, symbol, resources, arguments, kernarg_bytes, times_ms, ir_digest,
                                   warnings)

std::string to_json_text(const KernelRecord& record) { return nlohmann::json(record).dump(); }

KernelRecord record_from_json(std::string_view text) {
  try {
    return nlohmann::json::parse(text).get<KernelRecord>();
  } catch (const nlohmann::json::exception& error) {
    throw RecordError("unreadable kernel record: " + json_words(error));
  }
}

}  // namespace monojit::runtime
