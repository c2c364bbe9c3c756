#include "runtime/arguments.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace monojit::runtime {
namespace {

void check_slot(const kernels::Family& family, const kernels::Argument& wanted, std::uint32_t offset,
                const ArgumentSlot& found) {
  const std::uint32_t size = kernels::argument_bytes(wanted.type);
  if (found.name == wanted.name && found.offset == offset && found.size == size) return;
  throw CodeObjectError(fmt::format(
      "{}: argument '{}' has {} bytes at offset {} in the argument list, but '{}' with {} bytes at offset {} stands "
      "there in the code object",
      family.name, wanted.name, size, offset, found.name, found.size, found.offset));
}

}  // namespace

ArgumentLayout::ArgumentLayout(const kernels::Family& family, const KernelRecord& record) : family_(&family) {
  if (family.arguments.size() != record.arguments.size()) {
    throw CodeObjectError(fmt::format("{}: {} arguments in the argument list, but {} in the code object", family.name,
                                      family.arguments.size(), record.arguments.size()));
  }
  std::uint32_t offset = 0;
  for (std::size_t i = 0; i < family.arguments.size(); ++i) {
    const kernels::Argument& argument = family.arguments[i];
    const std::uint32_t size = kernels::argument_bytes(argument.type);
    offset = (offset + size - 1) / size * size;
    check_slot(family, argument, offset, record.arguments[i]);
    slots_.push_back({offset, argument.type, argument.alignment > 0 ? argument.alignment - 1 : 0U});
    offset += size;
  }
  bytes_ = std::max<std::size_t>(offset, record.kernarg_bytes);
  if (bytes_ > kMaxBytes) {
    throw CodeObjectError(fmt::format("{}: {} bytes of arguments, but {} at most", family.name, bytes_, kMaxBytes));
  }
}

std::size_t ArgumentLayout::index(std::string_view name) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (family_->arguments[i].name == name) return i;
  }
  throw UserError(fmt::format("{} has no argument '{}'", family_->name, name));
}

void ArgumentLayout::pack(std::span<const ArgumentValue> values, Packed& packed) const {
  if (values.size() != slots_.size()) refuse(values);
  std::memset(packed.data(), 0, bytes_);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.takes(values[i])) refuse(values);
    const std::uint64_t bits = values[i].bits();
    if (kernels::argument_bytes(slot.type) == sizeof bits) {
      std::memcpy(packed.data() + slot.offset, &bits, sizeof bits);
    } else {
      std::memcpy(packed.data() + slot.offset, &bits, sizeof(std::uint32_t));
    }
  }
}

void ArgumentLayout::refuse(std::span<const ArgumentValue> values) const {
  if (values.size() != slots_.size()) {
    throw UserError(fmt::format("{} takes {} arguments, not {}", family_->name, slots_.size(), values.size()));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].takes(values[i])) continue;
    if (values[i].type() == slots_[i].type) {
      throw UserError(fmt::format("{}: argument '{}' is address {:#x}, which must be a multiple of {}", family_->name,
                                  family_->arguments[i].name, values[i].bits(), slots_[i].low_bits + 1));
    }
    throw UserError(fmt::format("{}: argument '{}' takes {}, not {}", family_->name, family_->arguments[i].name,
                                kernels::type_name(slots_[i].type), kernels::type_name(values[i].type())));
  }
  throw UserError(fmt::format("{}: its arguments can't be packed", family_->name));
}

}  // namespace monojit::runtime
