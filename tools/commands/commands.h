#pragma once

#include <CLI/CLI.hpp>

/// One function a subcommand, in a file of its name. Each adds its options to `app` and a callback that does the work,
/// prints the result, and throws when it can't: UserError for what the user can put right (exit code 2), anything else
/// for a failure (1).
namespace monojit::tools {

void add_run(CLI::App& app);
void add_dump(CLI::App& app);
void add_keys(CLI::App& app);
void add_warm(CLI::App& app);
void add_cache(CLI::App& app);
void add_doctor(CLI::App& app);
void add_env(CLI::App& app);
void add_diff(CLI::App& app);
void add_completion(CLI::App& app);
void add_bench(CLI::App& app);
void add_bench_builds(CLI::App& bench);  ///< under `bench`
void add_cached_start(CLI::App& app);    ///< of bench, which starts it in processes of their own
void add_emulate(CLI::App& app);

/// Says on stderr which variables of the environment look like ours and are none.
void warn_of_unknown_variables();

/// The work was done and its outcome is bad (a kernel that is wrong, a broken machine): printed already, exit code 1.
struct Failed {};

}  // namespace monojit::tools
