// What tests of the HIP functions share: kernels, and handles that end with their scope.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <hip/hip_runtime_api.h>

#include "runtime/emulator/emulator.h"
#include "tests/emulator/assemble.h"

namespace monojit::emulator::test {

using Catch::Matchers::ContainsSubstring;

inline std::string last_fault() { return monojitEmulatorLastFault(); }

/// out[i] = in[i] * factor over 32-bit words; arguments in, out, factor.
inline KernelText scale_kernel() {
  return {.name = "scale",
          .body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  s_lshl_b32 s3, s2, 6
  v_add_u32 v1, s3, v0
  v_lshlrev_b32 v1, 2, v1
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_mul_lo_u32 v2, v2, s8
  global_store_dword v1, v2, s[6:7]
)",
          .arguments = 3};
}

/// words[lane] += amount; arguments words, amount. One wave.
inline KernelText add_kernel() {
  return {.name = "add",
          .body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x8
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v2, s8, v2
  global_store_dword v1, v2, s[4:5]
)",
          .arguments = 2};
}

class LoadedKernel {
 public:
  explicit LoadedKernel(const KernelText& text) {
    const auto object = assemble(text);
    REQUIRE(hipModuleLoadData(&module_, object.data()) == hipSuccess);
    REQUIRE(hipModuleGetFunction(&function_, module_, text.name.c_str()) == hipSuccess);
  }
  ~LoadedKernel() { CHECK(hipModuleUnload(module_) == hipSuccess); }
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  [[nodiscard]] hipModule_t module() const { return module_; }
  [[nodiscard]] hipFunction_t function() const { return function_; }
  hipError_t launch(void** arguments, hipStream_t stream = nullptr, unsigned int grid = 1) const {
    return hipModuleLaunchKernel(function_, grid, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr);
  }

 private:
  hipModule_t module_ = nullptr;
  hipFunction_t function_ = nullptr;
};

class Stream {
 public:
  explicit Stream(unsigned int flags = hipStreamNonBlocking) {
    REQUIRE(hipStreamCreateWithFlags(&stream_, flags) == hipSuccess);
  }
  ~Stream() { CHECK(hipStreamDestroy(stream_) == hipSuccess); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator hipStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor): stands for the handle
  void wait() const { REQUIRE(hipStreamSynchronize(stream_) == hipSuccess); }

 private:
  hipStream_t stream_ = nullptr;
};

class Event {
 public:
  explicit Event(unsigned int flags = hipEventDefault) {
    REQUIRE(hipEventCreateWithFlags(&event_, flags) == hipSuccess);
  }
  ~Event() { CHECK(hipEventDestroy(event_) == hipSuccess); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator hipEvent_t() const { return event_; }  // NOLINT(google-explicit-constructor): stands for the handle

 private:
  hipEvent_t event_ = nullptr;
};

/// Device memory of 32-bit words, zero at first.
class Words {
 public:
  explicit Words(std::size_t count = 64) : count_(count) {
    REQUIRE(hipMalloc(&data_, count * sizeof(std::uint32_t)) == hipSuccess);
  }
  ~Words() { CHECK(hipFree(data_) == hipSuccess); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(std::uint32_t); }
  [[nodiscard]] std::uint32_t* get() const { return static_cast<std::uint32_t*>(data_); }
  void** argument() { return &data_; }
  void upload(const std::vector<std::uint32_t>& values) const {
    REQUIRE(hipMemcpyHtoD(data_, values.data(), values.size() * sizeof(std::uint32_t)) == hipSuccess);
  }
  [[nodiscard]] std::vector<std::uint32_t> download() const {
    std::vector<std::uint32_t> values(count_);
    REQUIRE(hipMemcpyDtoH(values.data(), data_, bytes()) == hipSuccess);
    return values;
  }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

}  // namespace monojit::emulator::test
