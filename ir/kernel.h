#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/error.h"
#include "ir/pointer.h"
#include "ir/target.h"
#include "ir/value.h"

namespace monojit::ir {

class Builder;

enum class ArgumentType : std::uint32_t { kPointer, kInt32, kInt64, kFloat32 };

/// One kernel argument. Names and types reach the code object's metadata.
struct ArgumentSpec {
  std::string_view name;
  ArgumentType type = ArgumentType::kPointer;
  std::uint32_t alignment = 0;  ///< of the memory pointed to, bytes; 0: nothing known. Pointers only
  bool written = true;   ///< false: no one writes that memory while the kernel runs, and loads may be moved or merged
  bool no_alias = true;  ///< what is stored through it is not read through another argument
};

struct KernelOptions {
  std::string_view name;  ///< the symbol
  Target target = kTargetGfx950;
  std::uint32_t workgroup_size = 256;            ///< threads, exact
  std::uint32_t min_waves_per_eu = 0;            ///< bounds the registers of a lane to 512 / this; 0: LLVM's choice
  std::uint32_t max_waves_per_eu = 0;            ///< 0: no bound
  std::span<const ArgumentSpec> arguments = {};  // NOLINT(readability-redundant-member-init): GCC warns without
  std::uint32_t block_warning = 4000;  ///< instructions of one basic block beyond which finish() warns: LLVM's time
                                       ///< grows faster than linearly in them
};

/// A kernel under construction. While it lives, it is the current kernel of its thread: the DSL's functions emit into
/// it. Kernels of different threads are independent.
class Kernel {
 public:
  explicit Kernel(const KernelOptions& options, Loc loc = Loc::current());
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// The argument `name`: argument<Ptr<BFloat16, Global>>("ar"), argument<Int32>("layer"). Throws BuildError when there
  /// is no such argument or its type is another.
  template <class T>
  Uniform<T> argument(std::string_view name, Loc loc = Loc::current()) const {
    return Uniform<T>(Raw{argument_value(name, type_of<T>::kType, loc)});
  }

  const Target& target() const;
  std::uint32_t workgroup_size() const;
  const std::string& name() const;

  /// Ends the kernel: checks that every value is used in its scope, sizes the LDS, and closes the function. The module
  /// belongs to this kernel's context: it has to go before the kernel does. To be called once.
  std::unique_ptr<llvm::Module> finish(Loc loc = Loc::current());

  /// Bytes of LDS placed so far.
  std::uint32_t lds_bytes() const;
  /// Instructions emitted so far.
  std::size_t instructions() const;
  /// What finish() found worth a word, e.g. too large a basic block. Each names a source line.
  const std::vector<std::string>& warnings() const;

 private:
  template <class T>
  struct type_of;
  llvm::Value* argument_value(std::string_view name, ArgumentType type, Loc loc) const;

  std::unique_ptr<Builder> builder_;
};

template <class T, class Space>
struct Kernel::type_of<Ptr<T, Space>> {
  static_assert(std::same_as<Space, Global>, "pointer arguments point to global memory");
  static constexpr ArgumentType kType = ArgumentType::kPointer;
};
template <>
struct Kernel::type_of<Int32> {
  static constexpr ArgumentType kType = ArgumentType::kInt32;
};
template <>
struct Kernel::type_of<Int64> {
  static constexpr ArgumentType kType = ArgumentType::kInt64;
};
template <>
struct Kernel::type_of<Float32> {
  static constexpr ArgumentType kType = ArgumentType::kFloat32;
};

/// The chip that the current kernel is built for.
const Target& target(Loc loc = Loc::current());

/// Index of this workgroup; grids have one dimension.
Uniform<Int32> workgroup_id(Loc loc = Loc::current());
/// Index of this thread in its workgroup.
Int32 thread_id(Loc loc = Loc::current());
/// thread_id() modulo 64, and thread_id() divided by 64.
Int32 lane_id(Loc loc = Loc::current());
Uniform<Int32> wave_id(Loc loc = Loc::current());

}  // namespace monojit::ir
