// A loaded code object: its image in emulated memory, its kernels, and their decoded programs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulator/code/elf_image.h"
#include "runtime/emulator/code/kernel_info.h"
#include "runtime/emulator/decode/program.h"

namespace monojit::emulator {

class Allocations;
class Decoder;
class Module;

struct Kernel {
  std::string name;
  KernelDescriptor descriptor;
  KernelMetadata metadata;
  u64 entry = 0;  ///< code object address of the first instruction
  const Module* module = nullptr;
  const Decoder* decoder = nullptr;
  std::unique_ptr<const Program> program;  ///< the plain one

  /// The program in a variant other than the plain one, decoded when it is asked for first.
  [[nodiscard]] const Program& program_as(ProgramVariant variant) const;

 private:
  mutable std::once_flag decoded_[kProgramVariants];
  mutable std::unique_ptr<const Program> variants_[kProgramVariants];
};

class Module {
 public:
  /// Copies the object, loads and relocates it. Throws Failure.
  Module(std::span<const u8> bytes, const ChipLimits& chip, Allocations& allocations, u32 device = 0);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// The kernel, decoded. Throws Failure (kNotFound) listing what there is. The result lives as long as the module.
  const Kernel& kernel(std::string_view name, const Decoder& decoder);
  /// Host address and size of a variable; null if there is none of that name.
  [[nodiscard]] std::pair<void*, u64> variable(std::string_view name) const;

  [[nodiscard]] u32 device() const { return device_; }
  [[nodiscard]] std::span<const u8> file() const { return file_; }
  [[nodiscard]] const ElfImage& image() const { return image_; }
  [[nodiscard]] u64 load_bias() const { return reinterpret_cast<u64>(memory_) - lowest_; }
  /// The image as loaded, by code object address. Throws Failure (kInvalidImage) if it lies outside.
  [[nodiscard]] std::span<const u8> loaded(u64 address, u64 bytes) const;

 private:
  void load();
  void relocate();

  std::vector<u8> file_;
  ElfImage image_;
  Allocations& allocations_;
  u32 device_;
  void* memory_ = nullptr;
  u64 lowest_ = 0;
  u64 highest_ = 0;
  std::vector<KernelMetadata> metadata_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels_;
};

}  // namespace monojit::emulator
