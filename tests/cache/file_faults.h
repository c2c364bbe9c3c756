#pragma once

#include <string_view>

// Lets a call of the file system fail. The functions of file_faults.cpp stand before the C library's, for the program
// that holds them and for all of its libraries, the C++ library's <filesystem> included. What the C library calls by
// itself (below fopen, say) is one call.
//
// Preloaded into another program, its environment says what fails: FILE_FAULTS_FOLDER, FILE_FAULTS_NUMBER,
// FILE_FAULTS_ERROR (errno's number), and FILE_FAULTS_LOG, a file that gets the name of the call that failed.
namespace monojit::tests {

/// From now on calls for what lies below `folder` are counted; the one of that number, from 0, fails with `error`.
void start_file_faults(std::string_view folder, int number, int error);

/// How many calls were counted. From now on none is.
int stop_file_faults();

}  // namespace monojit::tests
