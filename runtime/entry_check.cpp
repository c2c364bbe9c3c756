#include "runtime/entry_check.h"

#include <exception>

#include <fmt/format.h>

#include "runtime/arguments.h"
#include "runtime/image.h"

namespace monojit::runtime {

void check_loadable(const kernels::BuildKey& key, std::string_view arch, const KernelRecord& record,
                    std::span<const std::byte> code_object) {
  const std::string symbol = key.symbol();
  if (record.symbol != symbol) throw CodeObjectError(fmt::format("its record is of another kernel than {}", symbol));
  check_image(code_object, arch, symbol);
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
