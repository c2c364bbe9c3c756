#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/kernel_record.h"

namespace monojit::runtime {

/// The smallest that image_record() takes, which says of its kernel what `record` does, without any code of it, for a
/// HIP that runs none.
std::vector<std::byte> hollow_image(std::string_view arch, const KernelRecord& record);

}  // namespace monojit::runtime
