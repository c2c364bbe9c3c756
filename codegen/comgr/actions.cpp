#include "codegen/comgr/actions.h"

#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include "codegen/comgr/handles.h"
#include "codegen/comgr/library.h"
#include "codegen/comgr/working_folder.h"
#include "codegen/error.h"

namespace monojit::codegen::comgr {
namespace {

struct Action {
  amd_comgr_action_kind_t kind;
  amd_comgr_data_kind_t from;
  amd_comgr_data_kind_t to;
  const char* input_name;
  const char* what;
};

// The names tell these inputs from other programs' (runtime/compiler/temporary_folder.h).
constexpr Action kCodegen = {AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE, AMD_COMGR_DATA_KIND_BC,
                             AMD_COMGR_DATA_KIND_RELOCATABLE, "monojit.bc", "code generation"};
constexpr Action kLink = {AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, AMD_COMGR_DATA_KIND_RELOCATABLE,
                          AMD_COMGR_DATA_KIND_EXECUTABLE, "monojit.o", "linking"};

std::string log_of(const DataSet& results) {
  std::string log;
  for (std::size_t i = 0; i < results.count(AMD_COMGR_DATA_KIND_LOG); ++i) {
    const std::vector<std::byte> bytes = results.bytes(AMD_COMGR_DATA_KIND_LOG, i);
    log.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  while (!log.empty() && (log.back() == '\n' || log.back() == '\0')) log.pop_back();
  return log;
}

/// With AMD_COMGR_EMIT_VERBOSE_LOGS, a log also tells what comgr does: command lines, paths.
std::vector<std::string> warnings_of(std::string_view log) {
  std::vector<std::string> warnings;
  for (const auto part : std::views::split(log, '\n')) {
    const std::string_view line(part.begin(), part.end());
    if (line.find("warning: ") != std::string_view::npos) warnings.emplace_back(line);
  }
  return warnings;
}

ActionResult do_action(const Action& action, std::span<const std::byte> input, std::string_view arch,
                       std::span<const std::string> options) {
  const Library& library = Library::instance();
  DataSet inputs(library);
  inputs.add(Data(library, action.from, action.input_name, input));
  const DataSet results(library);
  const ActionInfo info(library, fmt::format("amdgcn-amd-amdhsa--{}", arch), options);
  const amd_comgr_status_t status = library.do_action(action.kind, info.get(), inputs.get(), results.get());
  const std::string log = log_of(results);
  if (status != AMD_COMGR_STATUS_SUCCESS || results.count(action.to) != 1) {
    throw CodegenError(fmt::format("comgr {} ({}) failed at {} for {}: {}", library.version(), library.path(),
                                   action.what, arch, log.empty() ? "it gave no reason" : log));
  }
  return {results.bytes(action.to, 0), warnings_of(log)};
}

ActionResult run(const Action& action, std::span<const std::byte> input, std::string_view arch,
                 std::span<const std::string> options) {
  ActionResult result;
  with_working_folder([&] { result = do_action(action, input, arch, options); });
  return result;
}

}  // namespace

ActionResult codegen(std::span<const std::byte> bitcode, std::string_view arch, std::span<const std::string> options) {
  return run(kCodegen, bitcode, arch, options);
}

ActionResult link(std::span<const std::byte> relocatable, std::string_view arch) {
  // The linker has no such option, but takes any name for a folder to look for libraries in.
  const std::vector<std::string> options = {"-Xlinker", "-L", "-Xlinker", kUncached};
  return run(kLink, relocatable, arch, options);
}

}  // namespace monojit::codegen::comgr
