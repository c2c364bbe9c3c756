#include "tools/entry_use.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "runtime/arguments.h"
#include "runtime/compiler/compiler_loader.h"
#include "runtime/entry_check.h"
#include "runtime/strict_json.h"
#include "toolchain_id.h"

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

runtime::Obtained get_loadable(runtime::Jit& jit, const kernels::BuildKey& key, std::string_view arch,
                               const KernelUse& use) {
  runtime::Obtained obtained = jit.get(key, arch);
  const auto refused = [&](const std::exception& error) {
    auto anew = jit.renew(*obtained.kernel,
                          fmt::format("the cached {} for {} is unusable ({})", key.text(), arch, error.what()));
    if (!anew) throw;
    obtained = *std::move(anew);
  };
  for (;;) {
    try {
      runtime::check_loadable(key, arch, obtained.kernel->record, *obtained.kernel->code_object);
      if (use) use(*obtained.kernel);
      return obtained;
    } catch (const runtime::CodeObjectError& error) {
      refused(error);
    } catch (const runtime::CompileError& error) {
      refused(error);
    }
  }
}

std::string use_problem(const cache::Entry& entry) {
  if (!is_current(entry.key)) return "";
  const std::string& target = entry.key.target;
  const std::size_t dashes = target.rfind("--");
  const std::string arch = dashes == std::string::npos ? target : target.substr(dashes + 2);
  try {
    return runtime::entry_problem(kernels::BuildKey::parse(entry.key.text), arch, entry);
  } catch (const UserError& error) {
    return fmt::format("can't be loaded: {}", error.what());
  }
}

Json record_json(std::string_view metadata) {
  if (!runtime::json_problem(metadata, kMaxDepth).empty()) return nullptr;
  const Json record = Json::parse(metadata, nullptr, false);
  return record.is_discarded() ? Json(nullptr) : record;
}

}  // namespace monojit::tools
