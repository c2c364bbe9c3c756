// How HIP functions report errors: codes, texts, and what each thread remembers of them.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include <hip/hip_runtime_api.h>

#include "runtime/emulator/failure.h"
#include "runtime/emulator/hip/host_activity.h"

namespace monojit::emulator {

/// An error with a HIP code of its own, where no FailureKind has it.
class HipError : public std::runtime_error {
 public:
  HipError(hipError_t code, const std::string& text) : std::runtime_error(text), code_(code) {}
  [[nodiscard]] hipError_t code() const { return code_; }

 private:
  hipError_t code_;
};

[[nodiscard]] hipError_t error_code(FailureKind kind);

/// Remembers the calling thread's error and its text; returns `code`. hipErrorNotReady is an answer, not an error:
/// hipGetLastError does not tell it.
hipError_t remember_error(hipError_t code, const std::string& text);
/// The calling thread's latest call succeeded: hipExtGetLastError tells that.
void remember_success();
[[nodiscard]] hipError_t take_last_error();
[[nodiscard]] hipError_t peek_last_error();
/// The result of the calling thread's latest call, and from then on hipSuccess.
[[nodiscard]] hipError_t take_last_result();
[[nodiscard]] const std::string& last_fault_text();

/// Runs the body of a HIP function and turns what it throws into an error code.
template <class Body>
hipError_t guarded(Body body) {
  const HostActivity::Call call;
  try {
    body();
    remember_success();
    return hipSuccess;
  } catch (const Failure& failure) {
    return remember_error(error_code(failure.kind()), failure.what());
  } catch (const HipError& error) {
    return remember_error(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return remember_error(hipErrorOutOfMemory, "the host is out of memory");
  } catch (const std::exception& error) {
    return remember_error(hipErrorUnknown, error.what());
  }
}

[[noreturn]] void refuse_null(const char* name);
/// Throws HipError (hipErrorInvalidValue).
[[noreturn]] void refuse_value(const std::string& text);
/// Throws HipError (hipErrorNotSupported).
[[noreturn]] void refuse_unsupported(const std::string& text);

/// Throws Failure (kInvalidValue) naming the argument if it is null.
template <class T>
void require(const T* argument, const char* name) {
  if (argument == nullptr) refuse_null(name);
}

}  // namespace monojit::emulator
