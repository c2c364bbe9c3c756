#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "runtime/hip/table.h"
#include "tools/report.h"

/// `--profile` of the subcommands that launch on the emulator: which instructions were executed how often.
namespace monojit::tools {

struct ProfileFlags {
  bool on = false;
  std::string file;  ///< of the whole listing; empty: none
};

/// --profile [FILE]
void add_profile_flag(CLI::App& command, ProfileFlags& flags);

/// Profiles launches from its making on, until taken.
class ProfiledLaunches {
 public:
  /// Throws UserError when profiling is asked for and `hip` is no emulator, or the file can't be written.
  ProfiledLaunches(const runtime::HipTable& hip, const ProfileFlags& flags);
  ~ProfiledLaunches();
  ProfiledLaunches(const ProfiledLaunches&) = delete;
  ProfiledLaunches& operator=(const ProfiledLaunches&) = delete;

  /// The list of kernels (runtime/emulator/emulator.h has the fields), after writing the file; null without profiling.
  /// Throws UserError when the file can't be written.
  Json take();

 private:
  const runtime::HipTable& hip_;
  const ProfileFlags& flags_;
};

/// Hot instructions, time by class and by source line.
std::string profile_summary(const Json& kernels);

/// Every instruction in the order of addresses, with its count, share of time and source line.
std::string profile_listing(const Json& kernels);

}  // namespace monojit::tools
