#include <utility>

#include <fmt/format.h>

#include "runtime/emulator/hip/errors.h"

namespace monojit::emulator {
namespace {

thread_local hipError_t last_error = hipSuccess;
thread_local hipError_t last_result = hipSuccess;
thread_local std::string fault_text;

}  // namespace

hipError_t error_code(FailureKind kind) {
  switch (kind) {
    case FailureKind::kInvalidValue:
      return hipErrorInvalidValue;
    case FailureKind::kInvalidImage:
      return hipErrorInvalidImage;
    case FailureKind::kWrongChip:
      return hipErrorNoBinaryForGpu;
    case FailureKind::kNotFound:
      return hipErrorNotFound;
    case FailureKind::kOutOfMemory:
      return hipErrorOutOfMemory;
    case FailureKind::kInvalidLaunch:
      return hipErrorInvalidConfiguration;
    case FailureKind::kNotCoResident:
      return hipErrorCooperativeLaunchTooLarge;
    case FailureKind::kIllegalAddress:
      return hipErrorIllegalAddress;
    case FailureKind::kIllegalInstruction:
    case FailureKind::kCheckFailed:
      return hipErrorLaunchFailure;
    case FailureKind::kDeadlock:
    case FailureKind::kTimeLimit:
      return hipErrorLaunchTimeOut;
    case FailureKind::kTrap:
      return hipErrorAssert;
    case FailureKind::kNotInitialized:
      return hipErrorNotInitialized;
  }
  return hipErrorUnknown;
}

hipError_t remember_error(hipError_t code, const std::string& text) {
  last_result = code;
  if (code == hipErrorNotReady) return code;
  last_error = code;
  fault_text = text;
  return code;
}

void remember_success() { last_result = hipSuccess; }

hipError_t take_last_error() { return std::exchange(last_error, hipSuccess); }
hipError_t peek_last_error() { return last_error; }
hipError_t take_last_result() { return std::exchange(last_result, hipSuccess); }
const std::string& last_fault_text() { return fault_text; }

void refuse_null(const char* name) { throw Failure(FailureKind::kInvalidValue, fmt::format("{} is null", name)); }
void refuse_value(const std::string& text) { throw HipError(hipErrorInvalidValue, text); }
void refuse_unsupported(const std::string& text) { throw HipError(hipErrorNotSupported, text); }

}  // namespace monojit::emulator

extern "C" {

hipError_t hipGetLastError() { return monojit::emulator::take_last_error(); }
hipError_t hipPeekAtLastError() { return monojit::emulator::peek_last_error(); }
hipError_t hipExtGetLastError() { return monojit::emulator::take_last_result(); }

}  // extern "C"
