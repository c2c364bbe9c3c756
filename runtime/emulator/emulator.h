/* What libmonojit_hip_emulator.so exports besides HIP functions. C, so that any host can call it. */
#ifndef MONOJIT_RUNTIME_EMULATOR_EMULATOR_H
#define MONOJIT_RUNTIME_EMULATOR_EMULATOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Everything executed since the process started or the counters were reset. */
typedef struct MonojitEmulatorCounters {
  uint64_t struct_bytes; /* set by the caller to sizeof: later versions append fields */
  uint64_t launches;
  uint64_t wave_instructions; /* all classes below together */
  uint64_t vector;            /* VALU */
  uint64_t scalar;
  uint64_t scalar_memory;
  uint64_t vector_memory;
  uint64_t lds;
  uint64_t mfma;
  uint64_t other;                     /* waits, barriers, sleeps, cache maintenance, ends */
  uint64_t mfma_with_partial_exec;    /* the chip ignores EXEC there; a kernel that relies on it is suspicious */
  uint64_t buffer_parts_out_of_range; /* lanes (and dwords of wide accesses) that a buffer's range check stopped */
  double seconds;                     /* wall time inside launches */
  uint64_t buffer_rule_differences;   /* of these parts: where the documented range rule says something else */
} MonojitEmulatorCounters;

/* 0, or 1 if `counters` is null or too small. */
int monojitEmulatorCounters(MonojitEmulatorCounters* counters);
void monojitEmulatorResetCounters(void);

/* The text behind the calling thread's latest HIP error: kernel, workgroup, wave, lane, address, instruction, source
 * line. Empty if there was none. Valid until the thread's next HIP call. */
const char* monojitEmulatorLastFault(void);

/* Options "chip", "devices", "threads", "matrix", "memory", "seed" and "alignment", as in the environment
 * (MONOJIT_EMULATOR_CHIP
 * ...). "chip", "devices" and "matrix" only before the first HIP call that needs a device. 0, or 1 with the reason in
 * monojitEmulatorLastFault().
 */
int monojitEmulatorSetOption(const char* name, const char* value);

/* One line: chip, model of the matrix core, host instruction set, threads. Valid until the thread's next call. */
const char* monojitEmulatorDescribe(void);

/* How the device's matrix core adds up: "cdna3", "fma-chain" or "exact"; null, with the reason in
 * monojitEmulatorLastFault(), when the device can't start. Valid for ever. */
const char* monojitEmulatorMatrixModel(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
