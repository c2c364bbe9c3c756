#include "tests/emulator/programs/program.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace monojit::emulator::test {
namespace {

constexpr u64 kShuffled = 11;

std::vector<std::byte> read_object(const std::string& source, const Variant& variant) {
  const std::string path =
      fmt::format("{}/{}.{}.{}.co", MONOJIT_TEST_PROGRAMS, source, variant.chip.arch, variant.optimisation);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path + ": it is made by the build");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

Settings settings_of(const Variant& variant) {
  Settings settings;
  settings.chip = variant.chip;
  settings.threads = variant.threads;
  settings.seed = variant.seed;
  return settings;
}

u32 round_up(u32 value, u32 unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::string Variant::name() const {
  return fmt::format("{} -{} on {} with {} threads, seed {}", chip.arch, optimisation,
                     isa == HostIsa::kX86V3 ? "x86-64-v3" : "x86-64-v4", threads, seed);
}

std::vector<Variant> variants() {
  std::vector<Variant> possible;
  for (const Variant& variant :
       {Variant{kMi355x, "O3", HostIsa::kX86V4, 1, 0}, Variant{kMi300x, "O3", HostIsa::kX86V4, 1, 0},
        Variant{kMi355x, "O3", HostIsa::kX86V3, 2, kShuffled}, Variant{kMi300x, "O3", HostIsa::kX86V3, 1, kShuffled},
        Variant{kMi355x, "O1", HostIsa::kX86V4, 2, kShuffled}, Variant{kMi300x, "O1", HostIsa::kX86V3, 1, 0},
        Variant{kMi355x, "O0", HostIsa::kX86V3, 1, 0}, Variant{kMi300x, "O0", HostIsa::kX86V4, 2, kShuffled}}) {
    if (host_has(variant.isa)) possible.push_back(variant);
  }
  return possible;
}

Program::Program(const std::string& source, const Variant& variant) : Program(read_object(source, variant), variant) {}

Program::Program(std::vector<std::byte> object, const Variant& variant)
    : Device(settings_of(variant), variant.isa),
      variant_(variant),
      object_(std::move(object)),
      module_(&add_module(object_)) {}

LaunchReport Program::call(const std::string& name, const Shape& shape, const std::vector<Argument>& arguments) {
  const Kernel& kernel = module_->kernel(name, decoder());
  LaunchRequest request;
  request.kernel = &kernel;
  request.grid = shape.grid;
  request.block = shape.block;
  request.cooperative = shape.cooperative;
  std::size_t given = 0;
  for (const KernelArgument& wanted : kernel.metadata.arguments) {
    if (wanted.hidden()) continue;
    if (given == arguments.size()) throw std::logic_error(name + ": too few arguments");
    const Argument& argument = arguments[given++];
    std::vector<u8> bytes = argument.bytes();
    if (argument.local_bytes() != 0) {
      constexpr u32 kLocalAlignment = 16;
      const u32 offset = round_up(kernel.descriptor.lds_bytes + request.dynamic_lds, kLocalAlignment);
      std::memcpy(bytes.data(), &offset, sizeof offset);
      request.dynamic_lds = offset + argument.local_bytes() - kernel.descriptor.lds_bytes;
    }
    if (bytes.size() != wanted.bytes || (argument.local_bytes() != 0) != (wanted.kind == "dynamic_shared_pointer")) {
      throw std::logic_error(fmt::format("{}: argument {} is {} of {} bytes", name, given, wanted.kind, wanted.bytes));
    }
    request.arguments.resize(wanted.offset + wanted.bytes);
    std::memcpy(request.arguments.data() + wanted.offset, bytes.data(), bytes.size());
  }
  if (given != arguments.size()) throw std::logic_error(name + ": too many arguments");
  return launch(request);
}

}  // namespace monojit::emulator::test
