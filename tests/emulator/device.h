// An emulated device of a test's own: any chip, matrix model, seed and number of threads, many in one process.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/emulator/code/module.h"
#include "runtime/emulator/decode/decoder.h"
#include "runtime/emulator/failure.h"
#include "runtime/emulator/memory/allocations.h"
#include "runtime/emulator/schedule/scheduler.h"
#include "runtime/emulator/settings.h"
#include "tests/emulator/assemble.h"

namespace monojit::emulator::test {

/// Device memory of `count` elements; freed with the device.
template <class T>
struct Buffer {
  T* data = nullptr;
  std::size_t count = 0;
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data); }
  T& operator[](std::size_t i) { return data[i]; }
  const T& operator[](std::size_t i) const { return data[i]; }
  [[nodiscard]] std::span<T> all() const { return {data, count}; }
};

struct Shape {
  std::array<u32, 3> grid{1, 1, 1};
  std::array<u32, 3> block{64, 1, 1};
  bool cooperative = false;
  Profile* profile = nullptr;
  Trace* trace = nullptr;
};

class Device {
 public:
  explicit Device(Settings settings = {}, HostIsa isa = best_host_isa())
      : settings_(settings), decoder_(settings_.chip, settings_.matrix, isa), scheduler_(settings_, allocations_) {
    // Its memory is device 0's; kernels of the others reach it.
    for (u32 device = 0; device < settings_.devices; ++device) allocations_.set_peer_access(device, 0, true);
  }

  template <class T>
  Buffer<T> allocate(std::size_t count, MemoryKind kind = MemoryKind::kCoarseGrained) {
    return {static_cast<T*>(allocations_.allocate(count * sizeof(T), Allocations::Use::kDevice, kind)), count};
  }
  template <class T>
  Buffer<T> upload(const std::vector<T>& values) {
    const Buffer<T> buffer = allocate<T>(values.size());
    std::memcpy(buffer.data, values.data(), values.size() * sizeof(T));
    allocations_.note_written(buffer.address(), buffer.address() + values.size() * sizeof(T));
    return buffer;
  }
  bool release(void* pointer) { return allocations_.release(pointer); }

  /// Assembles, loads and launches. Throws Failure.
  LaunchReport run(const KernelText& text, const Shape& shape, const std::vector<std::uint64_t>& arguments) {
    KernelText sized = text;
    sized.arch = settings_.chip.arch;
    sized.arguments = static_cast<std::uint32_t>(arguments.size());
    return run_object(assemble(sized), text.name, shape, arguments);
  }
  LaunchReport run_object(const std::vector<std::byte>& object, const std::string& name, const Shape& shape,
                          const std::vector<std::uint64_t>& arguments) {
    return launch(load(object, name), shape, arguments);
  }
  const Kernel& load(const std::vector<std::byte>& object, const std::string& name) {
    return add_module(object).kernel(name, decoder_);
  }
  Module& add_module(const std::vector<std::byte>& object) {
    modules_.push_back(std::make_unique<Module>(std::span(reinterpret_cast<const u8*>(object.data()), object.size()),
                                                settings_.chip, allocations_));
    return *modules_.back();
  }
  LaunchReport launch(const Kernel& kernel, const Shape& shape, const std::vector<std::uint64_t>& arguments) {
    return launch(request_for(kernel, shape, arguments));
  }
  LaunchReport launch(const LaunchRequest& request) { return scheduler_.run(request); }
  /// One launch on each device, with arguments of its own, side by side. Throws the first Failure.
  void launch_on_all(const Kernel& kernel, const Shape& shape,
                     const std::vector<std::vector<std::uint64_t>>& arguments) {
    std::vector<std::shared_ptr<Grid>> grids;
    for (u32 device = 0; device < arguments.size(); ++device) {
      LaunchRequest request = request_for(kernel, shape, arguments[device]);
      request.device = device;
      grids.push_back(scheduler_.start(std::move(request)));
    }
    while (scheduler_.busy()) scheduler_.round();
    for (const auto& grid : grids) {
      if (grid->failure()) throw Failure(*grid->failure());
    }
  }
  /// Before the next launch.
  void set_seed(u64 seed) { settings_.seed = seed; }
  [[nodiscard]] const Decoder& decoder() const { return decoder_; }

 private:
  static LaunchRequest request_for(const Kernel& kernel, const Shape& shape,
                                   const std::vector<std::uint64_t>& arguments) {
    LaunchRequest request;
    request.kernel = &kernel;
    request.grid = shape.grid;
    request.block = shape.block;
    request.cooperative = shape.cooperative;
    request.profile = shape.profile;
    request.trace = shape.trace;
    const auto* const bytes = reinterpret_cast<const u8*>(arguments.data());
    request.arguments.assign(bytes, bytes + arguments.size() * sizeof(std::uint64_t));
    return request;
  }

  Settings settings_;
  Allocations allocations_;
  Decoder decoder_;
  std::vector<std::unique_ptr<Module>> modules_;
  Scheduler scheduler_;
};

}  // namespace monojit::emulator::test
