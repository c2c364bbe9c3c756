// HIP: error names and texts.
#include "runtime/emulator/hip/errors.h"

#include <iterator>

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
    MONOJIT_ERROR(hipErrorDeinitialized, "driver shutting down"),
    MONOJIT_ERROR(hipErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    MONOJIT_ERROR(hipErrorProfilerNotInitialized, "profiler is not initialized"),
    MONOJIT_ERROR(hipErrorProfilerAlreadyStarted, "profiler already started"),
    MONOJIT_ERROR(hipErrorProfilerAlreadyStopped, "profiler already stopped"),
    MONOJIT_ERROR(hipErrorInvalidConfiguration, "invalid configuration argument"),
    MONOJIT_ERROR(hipErrorInvalidPitchValue, "invalid pitch argument"),
    MONOJIT_ERROR(hipErrorInvalidSymbol, "invalid device symbol"),
    MONOJIT_ERROR(hipErrorInvalidDevicePointer, "invalid device pointer"),
    MONOJIT_ERROR(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    MONOJIT_ERROR(hipErrorInsufficientDriver, "driver version is insufficient for runtime version"),
    MONOJIT_ERROR(hipErrorMissingConfiguration, "__global__ function call is not configured"),
    MONOJIT_ERROR(hipErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    MONOJIT_ERROR(hipErrorInvalidDeviceFunction, "invalid device function"),
    MONOJIT_ERROR(hipErrorNoDevice, "no ROCm-capable device is detected"),
    MONOJIT_ERROR(hipErrorInvalidDevice, "invalid device ordinal"),
    MONOJIT_ERROR(hipErrorInvalidImage, "device kernel image is invalid"),
    MONOJIT_ERROR(hipErrorInvalidContext, "invalid device context"),
    MONOJIT_ERROR(hipErrorContextAlreadyCurrent, "context is already current context"),
    MONOJIT_ERROR(hipErrorMapFailed, "mapping of buffer object failed"),
    MONOJIT_ERROR(hipErrorUnmapFailed, "unmapping of buffer object failed"),
    MONOJIT_ERROR(hipErrorArrayIsMapped, "array is mapped"),
    MONOJIT_ERROR(hipErrorAlreadyMapped, "resource already mapped"),
    MONOJIT_ERROR(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"),
    MONOJIT_ERROR(hipErrorAlreadyAcquired, "resource already acquired"),
    MONOJIT_ERROR(hipErrorNotMapped, "resource not mapped"),
    MONOJIT_ERROR(hipErrorNotMappedAsArray, "resource not mapped as array"),
    MONOJIT_ERROR(hipErrorNotMappedAsPointer, "resource not mapped as pointer"),
    MONOJIT_ERROR(hipErrorECCNotCorrectable, "uncorrectable ECC error encountered"),
    MONOJIT_ERROR(hipErrorUnsupportedLimit, "limit is not supported on this architecture"),
    MONOJIT_ERROR(hipErrorContextAlreadyInUse, "exclusive-thread device already in use by a different thread"),
    MONOJIT_ERROR(hipErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    MONOJIT_ERROR(hipErrorInvalidKernelFile, "invalid kernel file"),
    MONOJIT_ERROR(hipErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    MONOJIT_ERROR(hipErrorInvalidSource, "device kernel image is invalid"),
    MONOJIT_ERROR(hipErrorFileNotFound, "file not found"),
    MONOJIT_ERROR(hipErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    MONOJIT_ERROR(hipErrorSharedObjectInitFailed, "shared object initialization failed"),
    MONOJIT_ERROR(hipErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    MONOJIT_ERROR(hipErrorInvalidHandle, "invalid resource handle"),
    MONOJIT_ERROR(hipErrorIllegalState, "the operation cannot be performed in the present state"),
    MONOJIT_ERROR(hipErrorNotFound, "named symbol not found"),
    MONOJIT_ERROR(hipErrorNotReady, "device not ready"),
    MONOJIT_ERROR(hipErrorIllegalAddress, "an illegal memory access was encountered"),
    MONOJIT_ERROR(hipErrorLaunchOutOfResources, "too many resources requested for launch"),
    MONOJIT_ERROR(hipErrorLaunchTimeOut, "the launch timed out and was terminated"),
    MONOJIT_ERROR(hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    MONOJIT_ERROR(hipErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    MONOJIT_ERROR(hipErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    MONOJIT_ERROR(hipErrorContextIsDestroyed, "context is destroyed"),
    MONOJIT_ERROR(hipErrorAssert, "device-side assert triggered"),
    MONOJIT_ERROR(hipErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    MONOJIT_ERROR(hipErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    MONOJIT_ERROR(hipErrorLaunchFailure, "unspecified launch failure"),
    MONOJIT_ERROR(hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    MONOJIT_ERROR(hipErrorNotSupported, "operation not supported"),
    MONOJIT_ERROR(hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    MONOJIT_ERROR(hipErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    MONOJIT_ERROR(hipErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    MONOJIT_ERROR(hipErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    MONOJIT_ERROR(hipErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    MONOJIT_ERROR(hipErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    MONOJIT_ERROR(hipErrorStreamCaptureImplicit,
                  "operation would make the legacy stream depend on a capturing blocking stream"),
    MONOJIT_ERROR(hipErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    MONOJIT_ERROR(hipErrorStreamCaptureWrongThread,
                  "attempt to terminate a thread-local capture sequence from another thread"),
    MONOJIT_ERROR(hipErrorGraphExecUpdateFailure,
                  "the graph update was not performed because it included changes which violated constraints specific "
                  "to instantiated graph update"),
    MONOJIT_ERROR(hipErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    MONOJIT_ERROR(hipErrorInvalidTexture, "invalid texture"),
    MONOJIT_ERROR(hipErrorUnknown, "unknown error"),
    MONOJIT_ERROR(hipErrorRuntimeMemory, "runtime memory call returned error"),
    MONOJIT_ERROR(hipErrorRuntimeOther, "runtime call other than memory returned error"),
    MONOJIT_ERROR(hipErrorTbd, "unknown error"),
};
#undef MONOJIT_ERROR

const ErrorText* find(hipError_t code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

hipError_t tell(hipError_t code, const char* ErrorText::* field, const char** result) {
  if (result == nullptr) return hipErrorInvalidValue;
  const ErrorText* const error = find(code);
  *result = error == nullptr ? nullptr : error->*field;
  return error == nullptr ? hipErrorInvalidValue : hipSuccess;
}

}  // namespace

extern "C" {

const char* hipGetErrorName(hipError_t code) {
  const ErrorText* const error = find(code);
  return error == nullptr ? "hipErrorUnknown" : error->name;
}

const char* hipGetErrorString(hipError_t code) {
  const ErrorText* const error = find(code);
  return error == nullptr ? "unknown error" : error->text;
}

hipError_t hipDrvGetErrorName(hipError_t code, const char** name) { return tell(code, &ErrorText::name, name); }
hipError_t hipDrvGetErrorString(hipError_t code, const char** text) { return tell(code, &ErrorText::text, text); }

}  // extern "C"
