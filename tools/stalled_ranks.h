#pragma once

#include <string>
#include <string_view>

/// MONOJIT_EMULATOR_STALL where every rank's process has one device of its own: the device that it names is a rank.
namespace monojit::tools {

/// What is left of the setting for the process of a rank, whose own device is 0. What is no setting stays as it is: the
/// emulator refuses it.
std::string stalled_of_rank(std::string_view setting, int rank);

/// Throws UserError when the environment's setting names a rank that is none.
void check_stalled_ranks(int ranks);

/// Leaves in this process's environment what is for the rank.
void stall_own_workgroups(int rank);

}  // namespace monojit::tools
