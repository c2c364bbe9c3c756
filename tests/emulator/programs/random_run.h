// Random programs on the device against their evaluation.
#pragma once

#include <span>
#include <string>

#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {

/// Makes the programs of `seeds`, compiles them together as `variant` says, runs each on random inputs. Empty if every
/// word is as evaluated; else which program, item and word differ, with the program's text.
std::string run_random_programs(std::span<const u64> seeds, const Variant& variant);

}  // namespace monojit::emulator::test
