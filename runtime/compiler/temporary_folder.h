#pragma once

#include <filesystem>
#include <string_view>

namespace monojit::runtime {

/// A fresh folder named `prefix` and six letters, for this user alone, where comgr would make its own: in the first of
/// TMPDIR, TMP, TEMP and TEMPDIR that is set (an empty one counts as not set), else in /tmp. Throws UserError naming
/// the folder that takes none.
std::filesystem::path make_temporary_folder(std::string_view prefix);

/// Throws UserError when comgr, in this process, would find no folder for its files, or no room in it for a build: it
/// says nothing of the one, and ends the process over the other.
void check_temporary_folder();

/// Removes from there what builds of killed processes left: this user's folders of comgr with an input of ours
/// (codegen/comgr/actions.cpp), untouched for a day, and such folders of check_temporary_folder().
void sweep_temporary_folder();

}  // namespace monojit::runtime
