#include "tools/trace_file.h"

#include <span>
#include <string>
#include <utility>

#include "runtime/hip/emulator_extras.h"
#include "tools/output_file.h"

namespace monojit::tools {

TracedLaunches::TracedLaunches(const runtime::HipTable& hip, std::filesystem::path file)
    : hip_(hip), file_(std::move(file)) {
  if (file_.empty()) return;
  check_output_file(file_);
  runtime::set_emulator_tracing(hip_, true);
}

TracedLaunches::~TracedLaunches() {
  if (!file_.empty()) runtime::set_emulator_tracing(hip_, false);
}

void TracedLaunches::write() {
  if (file_.empty()) return;
  const std::string text = runtime::take_emulator_trace(hip_);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  replace_file(file_, {&bytes, 1});
}

}  // namespace monojit::tools
