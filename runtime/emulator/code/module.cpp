#include "runtime/emulator/code/module.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "environment/edit_distance.h"
#include "runtime/emulator/decode/decoder.h"
#include "runtime/emulator/failure.h"
#include "runtime/emulator/memory/allocations.h"

namespace monojit::emulator {
namespace {

constexpr u64 kPreloadPrologue =
    256;  // code before the entry point of kernels with preloaded arguments, for older firmware

enum RelocationType : u32 {
  kNone = 0,
  kAbs32Low = 1,
  kAbs32High = 2,
  kAbs64 = 3,
  kRel32 = 4,
  kRel64 = 5,
  kAbs32 = 6,
  kRelative64 = 13
};

/// The names most like `wanted`, in one line; how many more there are.
std::string nearest(std::string_view wanted, std::vector<std::string> names) {
  constexpr std::size_t kMostNames = 8;
  std::ranges::stable_sort(names, {},
                           [&](const std::string& name) { return environment::edit_distance(wanted, name); });
  const std::size_t more = names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

const Program& Kernel::program_as(ProgramVariant variant) const {
  if (variant == ProgramVariant::kPlain) return *program;
  const auto index = static_cast<std::size_t>(variant);
  std::call_once(decoded_[index], [&] { variants_[index] = decoder->decode(*module, *this, variant); });
  return *variants_[index];
}

Module::Module(std::span<const u8> bytes, const ChipLimits& chip, Allocations& allocations, u32 device)
    : file_(bytes.begin(), bytes.end()),
      image_(ElfImage::parse(file_, chip)),
      allocations_(allocations),
      device_(device),
      metadata_(read_metadata(image_.metadata)) {
  load();
  try {
    relocate();
  } catch (...) {
    allocations_.release(memory_);
    throw;
  }
}

Module::~Module() { allocations_.release(memory_); }

void Module::load() {
  lowest_ = ~u64{0};
  for (const ElfSegment& segment : image_.segments) {
    lowest_ = std::min(lowest_, segment.address / 4096 * 4096);
    highest_ = std::max(highest_, segment.address + segment.memory_bytes);
  }
  constexpr u64 kLargestImage = u64{1} << 32;
  if (highest_ - lowest_ > kLargestImage)
    throw Failure(FailureKind::kInvalidImage, "code object: its segments span more than 4 GiB");
  memory_ = allocations_.allocate(highest_ - lowest_, Allocations::Use::kCode, MemoryKind::kCoarseGrained, device_);
  for (const ElfSegment& segment : image_.segments) {
    if (segment.content.size() > segment.memory_bytes) {
      throw Failure(FailureKind::kInvalidImage, "code object: a segment has more bytes in the file than in memory");
    }
    std::memcpy(static_cast<u8*>(memory_) + (segment.address - lowest_), segment.content.data(),
                segment.content.size());
  }
}

void Module::relocate() {
  for (const ElfRelocation& relocation : image_.relocations) {
    if (!relocation.symbol_defined) {
      throw Failure(FailureKind::kInvalidImage, fmt::format("code object: undefined symbol {}", relocation.symbol));
    }
    u8* const place = const_cast<u8*>(loaded(relocation.address, 8).data());
    const u64 value = load_bias() + relocation.symbol_address + static_cast<u64>(relocation.addend);
    const u64 relative = value - (load_bias() + relocation.address);
    const auto write = [&](u64 bits, std::size_t bytes) { std::memcpy(place, &bits, bytes); };
    switch (relocation.type) {
      case kNone:
        break;
      case kAbs32Low:
      case kAbs32:
        write(value, 4);
        break;
      case kAbs32High:
        write(value >> 32, 4);
        break;
      case kAbs64:
      case kRelative64:
        write(value, 8);
        break;
      case kRel32:
        write(relative, 4);
        break;
      case kRel64:
        write(relative, 8);
        break;
      default:
        throw Failure(FailureKind::kInvalidImage,
                      fmt::format("code object: relocation type {} is not known", relocation.type));
    }
  }
}

std::span<const u8> Module::loaded(u64 address, u64 bytes) const {
  if (address < lowest_ || address > highest_ || bytes > highest_ - address) {
    throw Failure(FailureKind::kInvalidImage,
                  fmt::format("code object: {} bytes at {:#x} lie outside its segments", bytes, address));
  }
  return {static_cast<const u8*>(memory_) + (address - lowest_), bytes};
}

std::pair<void*, u64> Module::variable(std::string_view name) const {
  for (const ElfSymbol& symbol : image_.symbols) {
    if (symbol.defined && !symbol.function && symbol.name == name) {
      return {const_cast<u8*>(loaded(symbol.address, symbol.bytes).data()), symbol.bytes};
    }
  }
  return {nullptr, 0};
}

const Kernel& Module::kernel(std::string_view name, const Decoder& decoder) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kernels_.find(name); known != kernels_.end()) return *known->second;
  const std::string wanted = std::string(name) + std::string(kDescriptorSuffix);
  const auto symbol =
      std::ranges::find_if(image_.symbols, [&](const ElfSymbol& s) { return s.defined && s.name == wanted; });
  if (symbol == image_.symbols.end()) {
    throw Failure(FailureKind::kNotFound, fmt::format("no kernel {} in the code object; it has: {}", name,
                                                      nearest(name, image_.kernel_names())));
  }
  auto kernel = std::make_unique<Kernel>();
  kernel->name = name;
  kernel->module = this;
  kernel->descriptor = KernelDescriptor::parse(loaded(symbol->address, kDescriptorBytes));
  kernel->entry = symbol->address + static_cast<u64>(kernel->descriptor.entry_offset);
  if (kernel->descriptor.preload_words > 0) kernel->entry += kPreloadPrologue;
  const auto metadata =
      std::ranges::find_if(metadata_, [&](const KernelMetadata& m) { return m.symbol == wanted || m.name == name; });
  if (metadata != metadata_.end()) kernel->metadata = *metadata;
  kernel->decoder = &decoder;
  kernel->program = decoder.decode(*this, *kernel, ProgramVariant::kPlain);
  return *kernels_.emplace(std::string(name), std::move(kernel)).first->second;
}

}  // namespace monojit::emulator
