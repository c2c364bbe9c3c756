#include "runtime/entry_check.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string_view>

#include <fmt/format.h>

#include "cache/digest.h"
#include "runtime/arguments.h"
#include "runtime/image.h"

namespace monojit::runtime {
namespace {

struct Figure {
  std::string_view name;  ///< in the record
  std::uint32_t Resources::* value;
};
constexpr Figure kFigures[] = {{"vgpr", &Resources::vgpr},
                               {"agpr", &Resources::agpr},
                               {"sgpr", &Resources::sgpr},
                               {"lds_bytes", &Resources::lds_bytes},
                               {"scratch_bytes", &Resources::scratch_bytes},
                               {"vgpr_spills", &Resources::vgpr_spills},
                               {"sgpr_spills", &Resources::sgpr_spills},
                               {"code_bytes", &Resources::code_bytes}};

/// What only the build knows is held against its form alone: the digest against the IR where that is emitted.
void check_record(const KernelRecord& record, const KernelRecord& image) {
  const auto check = [](std::string_view name, std::uint32_t recorded, std::uint32_t real) {
    if (recorded == real) return;
    throw CodeObjectError(fmt::format("its record says {} {}, its code object {}", name, recorded, real));
  };
  for (const auto& [name, value] : kFigures) check(name, record.resources.*value, image.resources.*value);
  check("kernarg_bytes", record.kernarg_bytes, image.kernarg_bytes);
  if (record.arguments != image.arguments) {
    throw CodeObjectError("its record has other arguments than its code object");
  }
  if (!cache::parse_hex(record.ir_digest)) throw CodeObjectError("its record has no digest of the IR");
}

}  // namespace

void check_loadable(const kernels::BuildKey& key, std::string_view arch, const KernelRecord& record,
                    std::span<const std::byte> code_object) {
  const std::string symbol = key.symbol();
  if (record.symbol != symbol) throw CodeObjectError(fmt::format("its record is of another kernel than {}", symbol));
  check_record(record, image_record(code_object, arch, symbol));
  (void)ArgumentLayout(key.family(), record);
}

std::string entry_problem(const kernels::BuildKey& key, std::string_view arch, const cache::Entry& entry) {
  try {
    check_loadable(key, arch, record_from_json(entry.metadata), entry.code_object);
  } catch (const std::exception& error) {
    return fmt::format("can't be loaded: {}", error.what());
  }
  return "";
}

}  // namespace monojit::runtime
