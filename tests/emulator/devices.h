// Several emulated devices of a test's own, whose kernels run together.
#pragma once

#include "tests/emulator/device.h"

namespace monojit::emulator::test {

class Devices {
 public:
  explicit Devices(const Settings& settings)
      : settings_(settings),
        decoder_(settings_.chip, settings_.matrix, best_host_isa()),
        scheduler_(settings_, allocations_) {}

  /// Memory of the device.
  template <class T>
  Buffer<T> allocate(std::size_t count, u32 device = 0) {
    void* const memory =
        allocations_.allocate(count * sizeof(T), Allocations::Use::kDevice, MemoryKind::kCoarseGrained, device);
    return {static_cast<T*>(memory), count};
  }
  /// Lets every device touch the memory of every other.
  void enable_peers() {
    for (u32 device = 0; device < settings_.devices; ++device) {
      for (u32 peer = 0; peer < settings_.devices; ++peer) allocations_.set_peer_access(device, peer, true);
    }
  }
  [[nodiscard]] Allocations& allocations() { return allocations_; }
  /// Assembles and loads; the kernel is the device's.
  const Kernel& load(u32 device, const KernelText& text, std::size_t arguments) {
    KernelText sized = text;
    sized.arch = settings_.chip.arch;
    sized.arguments = static_cast<std::uint32_t>(arguments);
    const auto object = assemble(sized);
    modules_.push_back(std::make_unique<Module>(std::span(reinterpret_cast<const u8*>(object.data()), object.size()),
                                                settings_.chip, allocations_, device));
    return modules_.back()->kernel(text.name, decoder_);
  }
  /// The kernel takes part from the next round on.
  std::shared_ptr<Grid> start(u32 device, const Kernel& kernel, const Shape& shape,
                              const std::vector<std::uint64_t>& arguments) {
    LaunchRequest request{.kernel = &kernel,
                          .device = device,
                          .grid = shape.grid,
                          .block = shape.block,
                          .arguments = std::vector<u8>(arguments.size() * sizeof(std::uint64_t))};
    std::memcpy(request.arguments.data(), arguments.data(), request.arguments.size());
    return scheduler_.start(std::move(request));
  }
  std::shared_ptr<Grid> start(u32 device, const KernelText& text, const Shape& shape,
                              const std::vector<std::uint64_t>& arguments) {
    return start(device, load(device, text, arguments.size()), shape, arguments);
  }
  /// While no kernel runs.
  void set_threads(u32 threads) { settings_.threads = threads; }
  /// Rounds until all kernels have ended.
  void finish() {
    while (scheduler_.busy()) scheduler_.round();
  }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }

 private:
  Settings settings_;
  Allocations allocations_;
  Decoder decoder_;
  std::vector<std::unique_ptr<Module>> modules_;
  Scheduler scheduler_;
};

}  // namespace monojit::emulator::test
