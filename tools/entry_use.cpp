#include "tools/entry_use.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "runtime/arguments.h"
#include "runtime/image.h"
#include "toolchain_id.h"
#include "tools/strict_json.h"

namespace monojit::tools {
namespace {

/// A record has 3; JSON is printed by recursion.
constexpr std::size_t kMaxDepth = 16;

}  // namespace

bool is_current(const cache::Key& key) {
  if (key.toolchain != kPinnedToolchain) return false;
  return std::ranges::any_of(kernels::families(), [&](const kernels::Family* family) {
    return key.family == family->name && key.generator == family->generator_digest;
  });
}

void check_loadable(const kernels::Family& family, const runtime::KernelRecord& record,
                    std::span<const std::byte> code_object) {
  runtime::check_image(code_object);
  (void)runtime::ArgumentLayout(family, record);
}

runtime::Obtained get_loadable(runtime::Jit& jit, const kernels::BuildKey& key, std::string_view arch) {
  runtime::Obtained obtained = jit.get(key, arch);
  for (;;) {
    try {
      check_loadable(key.family(), obtained.kernel->record, *obtained.kernel->code_object);
      return obtained;
    } catch (const runtime::CodeObjectError& error) {
      auto anew = jit.renew(*obtained.kernel,
                            fmt::format("the cached {} for {} is unusable ({})", key.text(), arch, error.what()));
      if (!anew) throw;
      obtained = *std::move(anew);
    }
  }
}

std::string use_problem(const cache::Entry& entry) {
  if (!is_current(entry.key)) return "";
  try {
    const runtime::KernelRecord record = runtime::record_from_json(entry.metadata);
    check_loadable(kernels::BuildKey::parse(entry.key.text).family(), record, entry.code_object);
  } catch (const std::exception& error) {
    return fmt::format("can't be loaded: {}", error.what());
  }
  return "";
}

Json record_json(std::string_view metadata) {
  if (!json_problem(metadata, kMaxDepth).empty()) return nullptr;
  Json record = Json::parse(metadata, nullptr, false);
  return record.is_discarded() ? Json(nullptr) : record;
}

}  // namespace monojit::tools
