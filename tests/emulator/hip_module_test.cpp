// HIP modules, launches, occupancy, device attributes and errors, and what bad input gives.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/emulator/hip_fixture.h"

// Need the header above.
#include <hip/hip_deprecated.h>
#include <hip/hip_ext.h>

namespace monojit::emulator::test {
namespace {

constexpr auto kUnknownError = static_cast<hipError_t>(1900);

struct BundleEntry {
  std::string target;
  std::vector<std::byte> object;
};

/// As clang-offload-bundler writes it: magic, count, and for each entry offset, size, length of the target, target.
std::vector<char> bundle_of(const std::vector<BundleEntry>& entries) {
  std::string head = "__CLANG_OFFLOAD_BUNDLE__", body;
  const auto append = [](std::string& text, std::uint64_t value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  std::size_t offset = head.size() + 8;
  for (const BundleEntry& entry : entries) offset += 24 + entry.target.size();
  append(head, entries.size());
  for (const BundleEntry& entry : entries) {
    append(head, offset + body.size());
    append(head, entry.object.size());
    append(head, entry.target.size());
    head += entry.target;
    body.append(reinterpret_cast<const char*>(entry.object.data()), entry.object.size());
  }
  head += body;
  return {head.begin(), head.end()};
}

hipError_t load(const void* image) {
  hipModule_t module = nullptr;
  const hipError_t error = hipModuleLoadData(&module, image);
  if (error == hipSuccess) CHECK(hipModuleUnload(module) == hipSuccess);
  return error;
}

TEST_CASE("a bundle gives the chip's own code object, or says what it has") {
  const auto fitting = assemble(scale_kernel());
  const auto other = assemble({.body = "", .arch = "gfx942"});
  const auto both = bundle_of({{"host-x86_64-unknown-linux-gnu-", {}},
                               {"hipv4-amdgcn-amd-amdhsa--gfx942", other},
                               {"hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-", fitting}});
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  REQUIRE(hipModuleLoadFatBinary(&module, both.data()) == hipSuccess);
  CHECK(hipModuleGetFunction(&function, module, "scale") == hipSuccess);
  CHECK(hipModuleUnload(module) == hipSuccess);

  const auto wrong = bundle_of({{"hipv4-amdgcn-amd-amdhsa--gfx942", other}});
  CHECK(load(wrong.data()) == hipErrorNoBinaryForGpu);
  CHECK_THAT(last_fault(), ContainsSubstring("it has: hipv4-amdgcn-amd-amdhsa--gfx942."));
  const auto paging = bundle_of({{"hipv4-amdgcn-amd-amdhsa--gfx950:xnack+", fitting}});
  CHECK(load(paging.data()) == hipErrorNoBinaryForGpu);
  std::string compressed(64, '\0');
  compressed.replace(0, 4, "CCOB");
  CHECK(load(compressed.data()) == hipErrorInvalidImage);
  CHECK_THAT(last_fault(), ContainsSubstring("compressed offload bundle"));
}

TEST_CASE("a module is loaded from a file; a missing, empty or foreign file is named") {
  const auto folder = std::filesystem::temp_directory_path() / "monojit_hip_module_test";
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const void* bytes, std::size_t count) {
    std::ofstream(folder / name, std::ios::binary).write(static_cast<const char*>(bytes), static_cast<long>(count));
    return (folder / name).string();
  };
  const auto object = assemble(scale_kernel());
  hipModule_t module = nullptr;
  REQUIRE(hipModuleLoad(&module, write("good.co", object.data(), object.size()).c_str()) == hipSuccess);
  unsigned int count = 0;
  CHECK(hipModuleGetFunctionCount(&count, module) == hipSuccess);
  CHECK(count == 1);
  CHECK(hipModuleUnload(module) == hipSuccess);
  CHECK(hipModuleUnload(module) == hipErrorInvalidValue);
  CHECK(hipModuleLoad(&module, (folder / "none.co").c_str()) == hipErrorFileNotFound);
  CHECK_THAT(last_fault(), ContainsSubstring("none.co"));
  CHECK(hipModuleLoad(&module, write("empty.co", "", 0).c_str()) == hipErrorInvalidImage);
  CHECK(hipModuleLoad(&module, write("text.co", "hello", 5).c_str()) == hipErrorInvalidImage);
  CHECK_THAT(last_fault(), ContainsSubstring("not an ELF file"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a kernel name that is not there brings the nearest ones") {
  LoadedKernel scale(scale_kernel());
  hipFunction_t function = nullptr;
  CHECK(hipModuleGetFunction(&function, scale.module(), "sclae") == hipErrorNotFound);
  CHECK_THAT(last_fault(), ContainsSubstring("no kernel sclae in the code object; it has: scale"));
  CHECK(hipModuleGetFunction(&function, nullptr, "scale") == hipErrorInvalidValue);
  hipDeviceptr_t pointer = nullptr;
  CHECK(hipModuleGetGlobal(&pointer, nullptr, scale.module(), "nothing") == hipErrorNotFound);
  CHECK(hipModuleGetTexRef(nullptr, scale.module(), "texture") == hipErrorNotSupported);
  CHECK(std::string(hipKernelNameRef(scale.function())) == "scale");
}

TEST_CASE("launches need exactly one form of arguments, of the right size, and a grid that can be") {
  LoadedKernel scale(scale_kernel());
  Words words;
  std::uint64_t factor = 2;
  void* pointers[] = {words.argument(), words.argument(), &factor};
  std::uint64_t packed[] = {reinterpret_cast<std::uint64_t>(words.get()), reinterpret_cast<std::uint64_t>(words.get()),
                            2};
  std::size_t bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  const auto launch = [&](unsigned int grid, unsigned int block, void** arguments, void** buffer,
                          unsigned int lds = 0) {
    return hipModuleLaunchKernel(scale.function(), grid, 1, 1, block, 1, 1, lds, nullptr, arguments, buffer);
  };
  CHECK(launch(1, 64, pointers, nullptr) == hipSuccess);
  CHECK(launch(1, 64, nullptr, extra) == hipSuccess);
  CHECK(launch(1, 64, pointers, extra) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("both kernelParams and extra"));
  CHECK(launch(1, 64, nullptr, nullptr) == hipErrorInvalidValue);
  void* missing[] = {words.argument(), nullptr, &factor};
  CHECK(launch(1, 64, missing, nullptr) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("argument 1 (a1) is a null pointer"));
  bytes = sizeof packed + 64;
  CHECK(launch(1, 64, nullptr, extra) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("88 bytes of arguments, where the kernel takes 24"));
  CHECK(launch(0, 64, pointers, nullptr) == hipErrorInvalidConfiguration);
  CHECK(launch(1, 2048, pointers, nullptr) == hipErrorInvalidConfiguration);
  CHECK(launch(0x80000000, 64, pointers, nullptr) == hipErrorInvalidConfiguration);
  CHECK(launch(1, 64, pointers, nullptr, 161 * 1024) == hipErrorInvalidConfiguration);
  CHECK_THAT(last_fault(), ContainsSubstring("bytes of LDS, where gfx950 has 163840"));
  CHECK(hipModuleLaunchKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr) == hipErrorInvalidValue);
  CHECK(hipDeviceSynchronize() == hipSuccess);
}

TEST_CASE("the other launch calls do the same") {
  LoadedKernel add(add_kernel());
  Words words;
  std::uint64_t amount = 1;
  void* arguments[] = {words.argument(), &amount};
  Event start, stop;
  REQUIRE(hipExtModuleLaunchKernel(add.function(), 64, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr, start, stop) ==
          hipSuccess);
  CHECK(hipExtModuleLaunchKernel(add.function(), 65, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) ==
        hipErrorNotSupported);
  REQUIRE(hipModuleLaunchCooperativeKernel(add.function(), 1, 1, 1, 64, 1, 1, 0, nullptr, arguments) == hipSuccess);
  hipLaunchAttribute cooperative{};
  cooperative.id = hipLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  HIP_LAUNCH_CONFIG config{1, 1, 1, 64, 1, 1, 0, nullptr, &cooperative, 1};
  REQUIRE(hipDrvLaunchKernelEx(&config, add.function(), arguments, nullptr) == hipSuccess);
  config.gridDimX = 1 << 20;
  CHECK(hipDrvLaunchKernelEx(&config, add.function(), arguments, nullptr) == hipErrorCooperativeLaunchTooLarge);
  CHECK_THAT(last_fault(), ContainsSubstring("1048576 workgroups, where gfx950 holds "));
  hipFunctionLaunchParams one{add.function(), 1, 1, 1, 64, 1, 1, 0, nullptr, arguments};
  REQUIRE(hipModuleLaunchCooperativeKernelMultiDevice(&one, 1, 0) == hipSuccess);
  float milliseconds = -1;
  REQUIRE(hipDeviceSynchronize() == hipSuccess);
  CHECK(hipEventElapsedTime(&milliseconds, start, stop) == hipSuccess);
  CHECK(milliseconds > 0);
  CHECK(words.download() == std::vector<std::uint32_t>(64, 4));
}

TEST_CASE("occupancy follows registers, wave slots and LDS, and a cooperative grid may be as large") {
  KernelText text = add_kernel();
  text.vgprs = 128;
  text.lds_bytes = 16 * 1024;
  LoadedKernel add(text);
  int blocks = 0, grid = 0, block = 0;
  REQUIRE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add.function(), 256, 0) == hipSuccess);
  CHECK(blocks == 4);  // 128 of 512 registers: four waves a SIMD
  REQUIRE(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, add.function(), 256, 64 * 1024, 0) ==
          hipSuccess);
  CHECK(blocks == 2);  // 80 of 160 KiB
  CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add.function(), 0, 0) == hipErrorInvalidValue);
  REQUIRE(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, add.function(), 0, 0) == hipSuccess);
  CHECK(block == 1024);
  CHECK(grid == 256);
  Words words;
  std::uint64_t amount = 0;
  void* arguments[] = {words.argument(), &amount};
  const auto cooperative = [&](int count) {
    return hipModuleLaunchCooperativeKernel(add.function(), static_cast<unsigned int>(count), 1, 1, 256, 1, 1, 0,
                                            nullptr, arguments);
  };
  CHECK(cooperative(4 * 256 + 1) == hipErrorCooperativeLaunchTooLarge);
  std::size_t lds = 0;
  REQUIRE(hipOccupancyAvailableDynamicSMemPerBlock(&lds, add.function(), 2, 256) == hipSuccess);
  CHECK(lds == 64 * 1024);
}

TEST_CASE("function attributes tell registers and LDS; dynamic LDS has a limit") {
  KernelText text = add_kernel();
  text.vgprs = 96;
  text.lds_bytes = 1024;
  LoadedKernel add(text);
  int value = 0;
  REQUIRE(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, add.function()) == hipSuccess);
  CHECK(value == 96);
  hipFuncAttributes attributes{};
  REQUIRE(hipFuncGetAttributes(&attributes, add.function()) == hipSuccess);
  CHECK(attributes.sharedSizeBytes == 1024);
  CHECK(attributes.maxDynamicSharedSizeBytes == 159 * 1024);
  CHECK(hipFuncSetAttribute(add.function(), hipFuncAttributeMaxDynamicSharedMemorySize, 159 * 1024) == hipSuccess);
  CHECK(hipFuncSetAttribute(add.function(), hipFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024) ==
        hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("163840 bytes of dynamic LDS, where gfx950 has 162816 left"));
}

TEST_CASE("the device describes an MI355X") {
  const auto attribute = [](hipDeviceAttribute_t which) {
    int value = -1;
    REQUIRE(hipDeviceGetAttribute(&value, which, 0) == hipSuccess);
    return value;
  };
  CHECK(attribute(hipDeviceAttributeMultiprocessorCount) == 256);
  CHECK(attribute(hipDeviceAttributeNumberOfXccs) == 8);
  CHECK(attribute(hipDeviceAttributeWarpSize) == 64);
  CHECK(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock) == 160 * 1024);
  CHECK(attribute(hipDeviceAttributeL2CacheSize) == 4 << 20);
  CHECK(attribute(hipDeviceAttributeWallClockRate) == 100'000);
  CHECK(attribute(hipDeviceAttributeMemoryPoolsSupported) == 1);
  int value = 0;
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeUnused1, 0) == hipErrorInvalidValue);
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 7) == hipErrorInvalidDevice);
  hipDeviceProp_tR0000 old{};
  REQUIRE(hipGetDevicePropertiesR0000(&old, 0) == hipSuccess);
  CHECK(old.multiProcessorCount == 256);
  CHECK_THAT(std::string(old.gcnArchName), ContainsSubstring("gfx950:sramecc+:xnack-"));
  char text[64];
  REQUIRE(hipDeviceGetName(text, sizeof text, 0) == hipSuccess);
  CHECK_THAT(std::string(text), ContainsSubstring("MI355X"));
  REQUIRE(hipDeviceGetPCIBusId(text, sizeof text, 0) == hipSuccess);
  int device = -1;
  CHECK(hipDeviceGetByPCIBusId(&device, text) == hipSuccess);
  CHECK(device == 0);
  CHECK(hipDeviceGetByPCIBusId(&device, "ffff:00:00.0") == hipErrorInvalidValue);
  int major = 0, minor = 0;
  CHECK(hipDeviceComputeCapability(&major, &minor, 0) == hipSuccess);
  CHECK((major == 9 && minor == 5));
}

TEST_CASE("limits and configurations are kept or checked") {
  std::size_t bytes = 0;
  REQUIRE(hipDeviceSetLimit(hipLimitStackSize, 2048) == hipSuccess);
  REQUIRE(hipDeviceGetLimit(&bytes, hipLimitStackSize) == hipSuccess);
  CHECK(bytes == 2048);
  CHECK(hipDeviceSetLimit(hipLimitStackSize, 1 << 30) == hipErrorInvalidValue);
  CHECK(hipDeviceGetLimit(&bytes, hipLimitPrintfFifoSize) == hipErrorUnsupportedLimit);
  CHECK(hipDeviceSetCacheConfig(hipFuncCachePreferL1) == hipSuccess);
  CHECK(hipDeviceSetSharedMemConfig(static_cast<hipSharedMemConfig>(3)) == hipErrorInvalidValue);
  CHECK(hipDeviceSetSharedMemConfig(hipSharedMemBankSizeFourByte) == hipSuccess);
  unsigned int flags = 0;
  CHECK(hipSetDeviceFlags(hipDeviceScheduleSpin) == hipSuccess);
  CHECK(hipGetDeviceFlags(&flags) == hipSuccess);
  CHECK(flags == hipDeviceScheduleSpin);
  CHECK(hipSetDeviceFlags(0x1000) == hipErrorInvalidValue);
}

TEST_CASE("every error has a name and a text; unknown ones are refused") {
  const char* text = nullptr;
  CHECK(hipDrvGetErrorName(hipErrorStreamCaptureImplicit, &text) == hipSuccess);
  CHECK(std::string(text) == "hipErrorStreamCaptureImplicit");
  CHECK(std::string(hipGetErrorString(hipErrorOutOfMemory)) == "out of memory");
  CHECK(hipDrvGetErrorString(kUnknownError, &text) == hipErrorInvalidValue);
  CHECK(text == nullptr);
  CHECK(std::string(hipGetErrorName(kUnknownError)) == "hipErrorUnknown");
}

TEST_CASE("the last error stays through calls that succeed, until it is taken") {
  static_cast<void>(hipGetLastError());
  void* memory = nullptr;
  CHECK(hipExtMallocWithFlags(&memory, 16, 99) == hipErrorInvalidValue);
  CHECK(hipExtGetLastError() == hipErrorInvalidValue);
  CHECK(hipExtGetLastError() == hipSuccess);
  int count = 0;
  CHECK(hipGetDeviceCount(&count) == hipSuccess);
  CHECK(hipPeekAtLastError() == hipErrorInvalidValue);
  CHECK(hipGetLastError() == hipErrorInvalidValue);
  CHECK(hipPeekAtLastError() == hipSuccess);
}

}  // namespace
}  // namespace monojit::emulator::test
