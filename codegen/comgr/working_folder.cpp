#include "codegen/comgr/working_folder.h"

#include <filesystem>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "codegen/error.h"

namespace monojit::codegen::comgr {

void with_working_folder(const std::function<void()>& work) {
  std::error_code gone;
  (void)std::filesystem::current_path(gone);
  if (!gone) {
    work();
    return;
  }
  std::packaged_task<void()> task([&] {
    if (unshare(CLONE_FS) != 0 || chdir("/") != 0) {
      throw CodegenError(fmt::format(
          "the working folder is gone ({}), and comgr can't do without one: start in a folder that is there",
          gone.message()));
    }
    work();
  });
  std::future<void> outcome = task.get_future();
  std::thread(std::move(task)).join();
  outcome.get();
}

}  // namespace monojit::codegen::comgr
