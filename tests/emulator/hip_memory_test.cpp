// HIP memory: kinds, copies, fills, pools, and what is refused.
#include <cstring>
#include <numeric>

#include "tests/emulator/hip_fixture.h"

namespace monojit::emulator::test {
namespace {

std::vector<std::uint32_t> counting(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 1u);
  return values;
}

hipPointerAttribute_t attributes_of(const void* pointer) {
  hipPointerAttribute_t attributes{};
  REQUIRE(hipPointerGetAttributes(&attributes, pointer) == hipSuccess);
  return attributes;
}

TEST_CASE("every kind of memory can be used by a kernel and by the host, and says what it is") {
  LoadedKernel scale(scale_kernel());
  const auto values = counting(64);
  const auto try_memory = [&](void* memory, hipMemoryType type) {
    CHECK(attributes_of(static_cast<char*>(memory) + 4).type == type);
    CHECK(attributes_of(memory).devicePointer == memory);
    REQUIRE(hipMemcpy(memory, values.data(), 256, hipMemcpyDefault) == hipSuccess);
    std::uint64_t factor = 7;
    void* arguments[] = {&memory, &memory, &factor};
    REQUIRE(scale.launch(arguments) == hipSuccess);
    REQUIRE(hipDeviceSynchronize() == hipSuccess);
    std::vector<std::uint32_t> result(64);
    REQUIRE(hipMemcpy(result.data(), memory, 256, hipMemcpyDefault) == hipSuccess);
    for (std::size_t i = 0; i < 64; ++i) REQUIRE(result[i] == 7 * values[i]);
  };
  void* memory = nullptr;
  for (const unsigned int flags :
       {hipDeviceMallocDefault, hipDeviceMallocFinegrained, hipDeviceMallocUncached, hipDeviceMallocContiguous}) {
    REQUIRE(hipExtMallocWithFlags(&memory, 256, flags) == hipSuccess);
    try_memory(memory, hipMemoryTypeDevice);
    CHECK(attributes_of(memory).allocationFlags == flags);
    REQUIRE(hipFree(memory) == hipSuccess);
  }
  for (const unsigned int flags : {0u, unsigned{hipHostMallocCoherent}, unsigned{hipHostMallocNonCoherent},
                                   unsigned{hipHostMallocMapped | hipHostMallocPortable}}) {
    REQUIRE(hipHostMalloc(&memory, 256, flags) == hipSuccess);
    try_memory(memory, hipMemoryTypeHost);
    unsigned int told = ~0u;
    CHECK(hipHostGetFlags(&told, memory) == hipSuccess);
    CHECK(told == flags);
    void* device = nullptr;
    CHECK(hipHostGetDevicePointer(&device, memory, 0) == hipSuccess);
    CHECK(device == memory);
    REQUIRE(hipHostFree(memory) == hipSuccess);
  }
  REQUIRE(hipMallocManaged(&memory, 256, hipMemAttachGlobal) == hipSuccess);
  CHECK(hipMemAdvise(memory, 256, hipMemAdviseSetReadMostly, 0) == hipSuccess);
  CHECK(hipMemPrefetchAsync(memory, 256, 0, nullptr) == hipSuccess);
  try_memory(memory, hipMemoryTypeManaged);
  CHECK(attributes_of(memory).isManaged == 1);
  REQUIRE(hipFree(memory) == hipSuccess);
  CHECK(attributes_of(&memory).type == hipMemoryTypeUnregistered);
}

TEST_CASE("signal memory has eight bytes; unknown flags are refused") {
  void* memory = nullptr;
  CHECK(hipExtMallocWithFlags(&memory, 16, hipMallocSignalMemory) == hipErrorInvalidValue);
  REQUIRE(hipExtMallocWithFlags(&memory, 8, hipMallocSignalMemory) == hipSuccess);
  CHECK(hipFree(memory) == hipSuccess);
  CHECK(hipExtMallocWithFlags(&memory, 16, 99) == hipErrorInvalidValue);
  CHECK(hipHostMalloc(&memory, 16, hipHostMallocCoherent | hipHostMallocNonCoherent) == hipErrorInvalidValue);
  CHECK(hipMallocManaged(&memory, 16, 8) == hipErrorInvalidValue);
}

TEST_CASE("memory of the program can be registered, used by a kernel and unregistered") {
  LoadedKernel add(add_kernel());
  std::vector<std::uint32_t> own = counting(64);
  void* pointer = own.data();
  std::uint64_t amount = 5;
  void* arguments[] = {&pointer, &amount};
  REQUIRE(add.launch(arguments) == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  REQUIRE(hipHostRegister(pointer, 256, hipHostRegisterDefault) == hipSuccess);
  CHECK(hipHostRegister(own.data() + 8, 64, 0) == hipErrorHostMemoryAlreadyRegistered);
  REQUIRE(add.launch(arguments) == hipSuccess);
  REQUIRE(hipDeviceSynchronize() == hipSuccess);
  CHECK(own[63] == 64 + 5);
  CHECK(attributes_of(pointer).type == hipMemoryTypeHost);
  CHECK(hipHostFree(pointer) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("use hipHostUnregister"));
  CHECK(hipHostUnregister(own.data() + 8) == hipErrorHostMemoryNotRegistered);
  CHECK(hipHostUnregister(pointer) == hipSuccess);
  CHECK(hipHostUnregister(pointer) == hipErrorHostMemoryNotRegistered);
}

TEST_CASE("copies in every direction, with a pitch and in boxes, arrive") {
  const auto values = counting(64);
  Words first, second;
  REQUIRE(hipMemcpyHtoD(first.get(), values.data(), 256) == hipSuccess);
  REQUIRE(hipMemcpyDtoD(second.get(), first.get(), 256) == hipSuccess);
  CHECK(second.download() == values);
  Stream stream;
  std::vector<std::uint32_t> back(64);
  REQUIRE(hipMemcpyWithStream(back.data(), second.get(), 256, hipMemcpyDeviceToHost, stream) == hipSuccess);
  CHECK(back == values);
  std::vector<std::uint32_t> host(64);
  REQUIRE(hipMemcpy(host.data(), values.data(), 256, hipMemcpyHostToHost) == hipSuccess);
  CHECK(host == values);

  // Rows of 3 words out of rows of 8 into rows of 4.
  Words narrow(16);
  REQUIRE(hipMemcpy2D(narrow.get(), 16, first.get() + 1, 32, 12, 4, hipMemcpyDeviceToDevice) == hipSuccess);
  const auto rows = narrow.download();
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 4; ++x) CHECK(rows[4 * y + x] == (x < 3 ? values[8 * y + 1 + x] : 0));
  }
  CHECK(hipMemcpy2D(narrow.get(), 8, first.get(), 32, 12, 2, hipMemcpyDeviceToDevice) == hipErrorInvalidPitchValue);

  // A box of 2 x 2 x 2 words out of the middle of 4 x 4 x 4.
  Words small(8);
  hipMemcpy3DParms box{};
  box.srcPtr = make_hipPitchedPtr(first.get(), 16, 16, 4);
  box.srcPos = make_hipPos(4, 1, 1);
  box.dstPtr = make_hipPitchedPtr(small.get(), 8, 8, 2);
  box.extent = make_hipExtent(8, 2, 2);
  box.kind = hipMemcpyDeviceToDevice;
  REQUIRE(hipMemcpy3D(&box) == hipSuccess);
  const auto cube = small.download();
  for (std::size_t i = 0; i < 8; ++i) CHECK(cube[i] == values[16 * (1 + i / 4) + 4 * (1 + i / 2 % 2) + 1 + i % 2]);
}

TEST_CASE("fills repeat bytes, halves and words, in rows too") {
  Words words(8);
  REQUIRE(hipMemsetD8(words.get(), 0xab, 3) == hipSuccess);
  REQUIRE(hipMemsetD16(words.get() + 1, 0x1234, 3) == hipSuccess);
  REQUIRE(hipMemsetD32(words.get() + 4, static_cast<int>(0xdeadbeef), 2) == hipSuccess);
  CHECK(words.download() ==
        std::vector<std::uint32_t>{0x00ababab, 0x12341234, 0x1234, 0, 0xdeadbeef, 0xdeadbeef, 0, 0});
  Stream stream;
  REQUIRE(hipMemsetAsync(words.get(), 0, 32, stream) == hipSuccess);
  REQUIRE(hipMemset2DAsync(words.get(), 16, 0xff, 4, 2, stream) == hipSuccess);
  REQUIRE(hipMemsetD32Async(words.get() + 3, 9, 1, stream) == hipSuccess);
  stream.wait();
  CHECK(words.download() == std::vector<std::uint32_t>{~0u, 0, 0, 9, ~0u, 0, 0, 0});
}

TEST_CASE("copies and fills that leave their allocation name it") {
  Words words(16);
  std::vector<std::uint32_t> host(64);
  CHECK(hipMemcpyHtoD(words.get() + 8, host.data(), 64) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("copy to device memory of 64 bytes") &&
                               ContainsSubstring("inside allocation ") &&
                               ContainsSubstring("64 bytes), which it leaves by 32 bytes"));
  CHECK(hipMemcpyDtoH(host.data(), host.data(), 64) == hipErrorInvalidValue);
  CHECK(hipMemset(words.get(), 0, 65) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("fill of 65 bytes"));
  CHECK(hipMemcpy(words.get(), host.data(), 65, hipMemcpyDefault) == hipErrorInvalidValue);
  CHECK(hipMemcpy(words.get(), host.data(), 4, static_cast<hipMemcpyKind>(77)) == hipErrorInvalidMemcpyDirection);
  CHECK(hipMemcpy(nullptr, host.data(), 4, hipMemcpyDefault) == hipErrorInvalidValue);
  void* gone = nullptr;
  REQUIRE(hipMalloc(&gone, 64) == hipSuccess);
  REQUIRE(hipFree(gone) == hipSuccess);
  CHECK(hipMemset(gone, 0, 4) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("inside the freed allocation"));
}

TEST_CASE("memory is freed once, by the right call, and only from its start") {
  void *device = nullptr, *host = nullptr;
  REQUIRE(hipMalloc(&device, 64) == hipSuccess);
  REQUIRE(hipHostMalloc(&host, 64, 0) == hipSuccess);
  CHECK(hipFree(host) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("is host memory: use hipHostFree"));
  CHECK(hipHostFree(device) == hipErrorInvalidValue);
  CHECK(hipFree(static_cast<char*>(device) + 8) == hipErrorInvalidValue);
  int local = 0;
  CHECK(hipFree(&local) == hipErrorInvalidValue);
  CHECK(hipFree(nullptr) == hipSuccess);
  CHECK(hipFree(device) == hipSuccess);
  CHECK(hipFree(device) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("hipFree: ") && ContainsSubstring("inside the freed allocation"));
  CHECK(hipHostFree(host) == hipSuccess);
}

TEST_CASE("the device's memory is finite and accounted for") {
  std::size_t free = 0, total = 0, after = 0;
  REQUIRE(hipMemGetInfo(&free, &total) == hipSuccess);
  CHECK(total == std::size_t{288} << 30);
  void *memory = nullptr, *more = nullptr;
  REQUIRE(hipMalloc(&memory, std::size_t{200} << 30) == hipSuccess);
  REQUIRE(hipMemGetInfo(&after, nullptr) == hipSuccess);
  CHECK(free - after == std::size_t{200} << 30);
  CHECK(hipMalloc(&more, std::size_t{100} << 30) == hipErrorOutOfMemory);
  CHECK_THAT(last_fault(), ContainsSubstring("hipMalloc of 107374182400 bytes, where device 0 has "));
  CHECK(hipFree(memory) == hipSuccess);
  REQUIRE(hipMalloc(&more, 0) == hipSuccess);
  CHECK(more == nullptr);
}

TEST_CASE("pointers lead back to their allocation") {
  Words words(16);
  hipDeviceptr_t base = nullptr;
  std::size_t bytes = 0;
  REQUIRE(hipMemGetAddressRange(&base, &bytes, words.get() + 5) == hipSuccess);
  CHECK(base == words.get());
  CHECK(bytes == 64);
  int device = -1;
  CHECK(hipPointerGetAttribute(&device, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, words.get() + 5) == hipSuccess);
  CHECK(device == 0);
  hipMemoryType type{};
  std::size_t size = 0;
  hipPointer_attribute wanted[] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* results[] = {&type, &size};
  CHECK(hipDrvPointerGetAttributes(2, wanted, results, words.get() + 5) == hipSuccess);
  CHECK(type == hipMemoryTypeDevice);
  CHECK(size == 64);
  CHECK(hipPointerGetAttribute(&device, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, &device) == hipErrorInvalidValue);
  CHECK(hipMemGetAddressRange(&base, &bytes, &device) == hipErrorNotFound);
}

TEST_CASE("stream-ordered memory is freed when the stream comes to it, and its pool counts it") {
  LoadedKernel add(add_kernel());
  Stream stream;
  hipMemPool_t pool = nullptr;
  REQUIRE(hipDeviceGetMemPool(&pool, 0) == hipSuccess);
  const auto used = [&](hipMemPool_t which) {
    std::uint64_t bytes = 0;
    REQUIRE(hipMemPoolGetAttribute(which, hipMemPoolAttrUsedMemCurrent, &bytes) == hipSuccess);
    return bytes;
  };
  const std::uint64_t before = used(pool);
  void* memory = nullptr;
  REQUIRE(hipMallocAsync(&memory, 256, stream) == hipSuccess);
  CHECK(used(pool) == before + 256);
  REQUIRE(hipMemsetAsync(memory, 0, 256, stream) == hipSuccess);
  std::uint64_t amount = 3;
  void* arguments[] = {&memory, &amount};
  REQUIRE(add.launch(arguments, stream) == hipSuccess);
  Words copy;
  REQUIRE(hipMemcpyAsync(copy.get(), memory, 256, hipMemcpyDeviceToDevice, stream) == hipSuccess);
  REQUIRE(hipFreeAsync(memory, stream) == hipSuccess);
  stream.wait();
  CHECK(copy.download()[17] == 3);
  CHECK(used(pool) == before);
  CHECK(hipMemset(memory, 0, 4) == hipErrorInvalidValue);
  int local = 0;
  CHECK(hipFreeAsync(&local, stream) == hipErrorInvalidValue);
}

TEST_CASE("a pool of the program's own has a size, attributes and an end") {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  properties.maxSize = 1024;
  hipMemPool_t pool = nullptr, standard = nullptr, current = nullptr;
  REQUIRE(hipMemPoolCreate(&pool, &properties) == hipSuccess);
  void *first = nullptr, *second = nullptr;
  REQUIRE(hipMallocFromPoolAsync(&first, 1000, pool, nullptr) == hipSuccess);
  CHECK(hipMallocFromPoolAsync(&second, 100, pool, nullptr) == hipErrorOutOfMemory);
  std::uint64_t threshold = ~std::uint64_t{0}, told = 0;
  REQUIRE(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold) == hipSuccess);
  REQUIRE(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &told) == hipSuccess);
  CHECK(told == threshold);
  CHECK(hipMemPoolTrimTo(pool, 0) == hipSuccess);
  REQUIRE(hipDeviceSetMemPool(0, pool) == hipSuccess);
  REQUIRE(hipDeviceGetMemPool(&current, 0) == hipSuccess);
  CHECK(current == pool);
  REQUIRE(hipDeviceGetDefaultMemPool(&standard, 0) == hipSuccess);
  CHECK(hipMemPoolDestroy(standard) == hipErrorInvalidValue);
  REQUIRE(hipMemPoolDestroy(pool) == hipSuccess);
  CHECK(hipMemPoolDestroy(pool) == hipErrorInvalidValue);
  REQUIRE(hipDeviceGetMemPool(&current, 0) == hipSuccess);
  CHECK(current == standard);
  CHECK(hipFreeAsync(first, nullptr) == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipSuccess);
}

}  // namespace
}  // namespace monojit::emulator::test
