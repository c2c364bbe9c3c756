// Any bytes are a job file, or refused with a UserError; what is a job file has jobs, each of which names one thing.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernels/common/error.h"
#include "tools/warm/job_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto wishes = monojit::tools::parse_job_file({reinterpret_cast<const char*>(data), size}, "jobs");
    if (wishes.empty()) std::abort();
    for (const monojit::tools::WarmWish& wish : wishes) {
      if (wish.model.empty() == wish.pattern.empty()) std::abort();
    }
  } catch (const monojit::UserError&) {
    return 0;
  }
  return 0;
}
