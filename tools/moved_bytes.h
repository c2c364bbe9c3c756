#pragma once

#include <string>

#include "runtime/hip/emulator_extras.h"
#include "tools/report.h"

/// What `run` and `emulate` tell about the bytes that kernels moved on the emulator.
namespace monojit::tools {

/// {"device": {"loaded", "stored"}, "peer": .., "host": .., "lds": .., "scratch": ..}
Json moved_bytes_json(const runtime::EmulatorCounts& counts);

/// "device 4096 loaded, 256 stored; LDS ...": spaces that nothing was moved in are left out.
std::string moved_bytes_text(const runtime::EmulatorCounts& counts);

}  // namespace monojit::tools
