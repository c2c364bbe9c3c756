// One value for each register of a wave: its VGPRs, its AGPRs, its scalar file.
#pragma once

#include <vector>

#include "runtime/emulator/decode/register_use.h"
#include "runtime/emulator/execute/register_file.h"

namespace monojit::emulator {

template <class T>
class RegisterMap {
 public:
  RegisterMap(u32 vgprs, u32 agprs) : vgprs_(vgprs), values_(kTemporaryScalarWord + vgprs + agprs) {}

  [[nodiscard]] T& at(RegisterUse::File file, u32 number) {
    const u32 base = file == RegisterUse::File::kScalar ? 0
                     : file == RegisterUse::File::kVgpr ? kTemporaryScalarWord
                                                        : kTemporaryScalarWord + vgprs_;
    const std::size_t index = base + number;
    return index < values_.size() ? values_[index] : outside_;
  }
  [[nodiscard]] const std::vector<T>& values() const { return values_; }

 private:
  u32 vgprs_;
  std::vector<T> values_;
  T outside_{};  ///< of registers that the kernel's descriptor does not grant: decoding refuses them
};

}  // namespace monojit::emulator
