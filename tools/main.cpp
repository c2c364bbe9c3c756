// The `monojit` command.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "kernels/common/error.h"
#include "tools/commands/commands.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

enum ExitCode { kDone = 0, kFailed = 1, kRefused = 2 };

constexpr const char* kFooter =
    R"(A kernel is named by its key, e.g. 'minimax_m3.k1{tokens=1,index_heads=1}' (quote it; see monojit keys).
Results go to stdout, messages to stderr. Exit codes: 0 done, 1 failed, 2 usage or refused.

Environment variables: monojit env.)";

void describe(CLI::App& app) {
  app.set_version_flag("--version", "monojit " MONOJIT_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  app.get_formatter()->enable_footer_formatting(false);
  add_run(app);
  add_dump(app);
  add_diff(app);
  add_keys(app);
  add_warm(app);
  add_cache(app);
  add_doctor(app);
  add_env(app);
  add_bench(app);
  add_cached_start(app);
  add_emulate(app);
  add_completion(app);
  app.footer(kFooter);  // last: a subcommand inherits what is there when it is added
}

/// Parses, which runs the subcommand's callback.
int run(int argc, char** argv) {
  CLI::App app("Mono kernels for AMD GPUs, generated at run time", "monojit");
  describe(app);
  try {
    app.parse(argc, argv);
    return kDone;
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    app.exit(success, text, text);
    put(text.str());
    return kDone;
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining(true);
    say(unknown.empty() ? error.what() : "unknown subcommand or option '" + unknown.front() + "'");
    say("see monojit --help, or --help of a subcommand");
    return kRefused;
  } catch (const UserError& error) {
    say(error.what());
    return kRefused;
  } catch (const Failed&) {
    return kFailed;
  } catch (const std::exception& error) {
    say(error.what());
    return kFailed;
  }
}

/// A standard stream that is closed must not become the next file that is opened.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // For reading, so that what is written there still fails.
    if (fcntl(stream, F_GETFD) < 0) (void)open("/dev/null", O_RDONLY);
  }
}

/// Variables of comgr's that would spoil what this command does; before there is a second thread.
void tidy_environment() {
  // LLVM takes an empty name of a folder for the working folder.
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value == '\0') (void)unsetenv(name);
  }
  constexpr const char* kLog = "AMD_COMGR_REDIRECT_LOGS";
  const char* log = std::getenv(kLog);
  if (log != nullptr && std::string_view(log) == "stdout") (void)setenv(kLog, "stderr", 1);  // stdout is the result's
}

}  // namespace
}  // namespace monojit::tools

int main(int argc, char** argv) {
  monojit::tools::hold_standard_streams();
  monojit::tools::tidy_environment();
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is then an error like a full disk
  monojit::tools::warn_of_unknown_variables();
  const int code = monojit::tools::run(argc, argv);
  const std::string problem = monojit::tools::finish_output();
  if (problem.empty()) return code;
  monojit::tools::say("can't write the result: " + problem);
  return code == monojit::tools::kDone ? monojit::tools::kFailed : code;
}
