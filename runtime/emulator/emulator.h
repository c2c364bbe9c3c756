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
  uint64_t struct_bytes;      /* set by the caller to sizeof: later versions append fields; then what was filled in */
  uint64_t launches;          /* that ended without a failure; what the others executed is counted too */
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
  /* Bytes that active lanes (for scalar accesses: waves) loaded and stored, by where they lie: in the device's own
   * memory, another device's, the host's, LDS, and lanes' private memory. Kernel arguments and code objects are not
   * counted; an atomic is stored, and loaded too if it returns the old value. */
  uint64_t device_bytes_loaded;
  uint64_t device_bytes_stored;
  uint64_t peer_bytes_loaded;
  uint64_t peer_bytes_stored;
  uint64_t host_bytes_loaded;
  uint64_t host_bytes_stored;
  uint64_t lds_bytes_loaded;
  uint64_t lds_bytes_stored;
  uint64_t scratch_bytes_loaded;
  uint64_t scratch_bytes_stored;
} MonojitEmulatorCounters;

/* Fills in as many of the fields as the caller has room for. 0, or 1 if `counters` is null or ends before
 * `device_bytes_loaded`. */
int monojitEmulatorCounters(MonojitEmulatorCounters* counters);
void monojitEmulatorResetCounters(void);

/* The text behind the calling thread's latest HIP error: kernel, workgroup, wave, lane, address, instruction, source
 * line. Empty if there was none. Valid until the thread's next HIP call. */
const char* monojitEmulatorLastFault(void);

/* Options "chip", "devices", "threads", "matrix", "memory", "checks", "seed", "alignment", "host_isa", "stall", "skew"
 * and "limit", as in the environment (MONOJIT_EMULATOR_CHIP ...). "chip", "devices", "matrix" and "host_isa" only
 * before the first HIP call that needs a device. 0, or 1 with the reason in monojitEmulatorLastFault().
 */
int monojitEmulatorSetOption(const char* name, const char* value);

/* One line: chip, model of the matrix core, host instruction set, threads. Valid until the thread's next call. */
const char* monojitEmulatorDescribe(void);

/* How the device's matrix core adds up: "cdna3", "fma-chain" or "exact"; null, with the reason in
 * monojitEmulatorLastFault(), when the device can't start. Valid for ever. */
const char* monojitEmulatorMatrixModel(void);

/* What a code object of `bytes` bytes holds, as JSON; any chip that the emulator can be, and no device is started:
 * {"arch": "gfx950", "kernels": [{"name", "vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes" (a lane),
 * "kernarg_bytes", "max_workgroup", "required_workgroup": [x, y, z] or null,
 * "occupancy": {"work_items", "workgroups_per_cu", "limit"}: of workgroups as large as the kernel allows,
 * "arguments": null where the object does not say, or [{"name", "kind", "type", "bytes", "offset", "hidden"}]}]}.
 * Null, with the reason in monojitEmulatorLastFault(), when it is no code object or one for another chip. Valid until
 * the thread's next call. */
const char* monojitEmulatorInspect(const void* image, uint64_t bytes);

/* Launches from now on are profiled (1) or not (0), which costs some speed. */
void monojitEmulatorSetProfiling(int on);

/* What profiled launches executed, those that failed too, and forgets it. JSON: {"kernels": [{"kernel", "launches",
 * "instructions": [{"address" (in the code object), "text", "source" ("file:line", may be empty), "class" ("vector",
 * "scalar", "scalar_memory", "vector_memory", "lds", "mfma", "other"), "executions" (wave-instructions, exact; null for
 * a wait or nop that the emulator dropped), "out_of_range" (executions of a buffer access whose lanes all lay behind
 * the buffer's end: nothing was moved), "time_share" (of the kernel, 0..1)}]}]}. Straight runs of instructions are
 * timed on the host; inside of one, time is shared out by what instructions of a class usually cost. Valid until the
 * thread's next call. */
const char* monojitEmulatorTakeProfile(void);

/* Launches from now on are traced (1) or not (0), which costs some speed. */
void monojitEmulatorSetTracing(int on);

/* When which workgroup and wave of the traced launches ran, waited at a barrier, slept or polled, and forgets it: a
 * trace file in Chrome's JSON format, which Perfetto reads. A process of the trace is a compute unit, a thread of it a
 * workgroup or one of its waves; process 1 holds the launches. Time is virtual: a wave-instruction takes 1 ns, waves
 * run side by side, and a sleep ends with the scheduler's next round. Valid until the thread's next call. */
const char* monojitEmulatorTakeTrace(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
