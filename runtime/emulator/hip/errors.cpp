// HIP: error names and texts.
#include "runtime/emulator/hip/runtime.h"

namespace {

struct ErrorText {
  hipError_t code;
  const char* name;
  const char* text;
};

#define MONOJIT_ERROR(code, text) {code, #code, text}
constexpr ErrorText kErrors[] = {
    MONOJIT_ERROR(hipSuccess, "no error"),
    MONOJIT_ERROR(hipErrorInvalidValue, "invalid argument"),
    MONOJIT_ERROR(hipErrorOutOfMemory, "out of memory"),
    MONOJIT_ERROR(hipErrorNotInitialized, "initialization error"),
    MONOJIT_ERROR(hipErrorInvalidConfiguration, "invalid configuration argument"),
    MONOJIT_ERROR(hipErrorInvalidDevice, "invalid device ordinal"),
    MONOJIT_ERROR(hipErrorInvalidImage, "device kernel image is invalid"),
    MONOJIT_ERROR(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"),
    MONOJIT_ERROR(hipErrorInvalidHandle, "invalid resource handle"),
    MONOJIT_ERROR(hipErrorNotFound, "named symbol not found"),
    MONOJIT_ERROR(hipErrorNotReady, "device not ready"),
    MONOJIT_ERROR(hipErrorIllegalAddress, "an illegal memory access was encountered"),
    MONOJIT_ERROR(hipErrorLaunchTimeOut, "the launch timed out and was terminated"),
    MONOJIT_ERROR(hipErrorAssert, "device-side assert triggered"),
    MONOJIT_ERROR(hipErrorLaunchFailure, "unspecified launch failure"),
    MONOJIT_ERROR(hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    MONOJIT_ERROR(hipErrorNotSupported, "operation not supported"),
    MONOJIT_ERROR(hipErrorUnknown, "unknown error"),
};
#undef MONOJIT_ERROR

const ErrorText& find(hipError_t code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return error;
  }
  return kErrors[std::size(kErrors) - 1];
}

}  // namespace

extern "C" {

const char* hipGetErrorName(hipError_t code) { return find(code).name; }
const char* hipGetErrorString(hipError_t code) { return find(code).text; }

}  // extern "C"
