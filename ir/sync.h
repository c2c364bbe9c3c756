#pragma once

#include <cstdint>

#include "ir/value.h"

namespace monojit::ir {

enum class Scope : std::uint8_t { kWave, kWorkgroup, kDevice, kSystem };
enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease, kSequential };

/// Waits until every wave of the workgroup is here, and makes what they wrote to LDS visible to all of them.
void barrier(Loc loc = Loc::current());
/// The bare instruction: orders execution and no memory.
void s_barrier(Loc loc = Loc::current());
/// Orders this lane's memory operations. At kDevice and kSystem LLVM writes back or invalidates whole caches for it, so
/// hand-offs between workgroups are better written with cache policies and explicit waits.
void fence(Scope scope, Order order, Loc loc = Loc::current());
/// Nothing moves across it in the compiler; emits no instruction.
void compiler_fence(Loc loc = Loc::current());

/// Waits until at most `n` (0..63) vector memory operations of this wave are under way.
void wait_vmcnt(int n, Loc loc = Loc::current());
/// Waits until at most `n` (0..15) LDS and scalar memory operations of this wave are under way.
void wait_lgkmcnt(int n, Loc loc = Loc::current());
void wait_all(Loc loc = Loc::current());

/// Sleeps for about 64 n clocks, n = 1..127.
void s_sleep(int n, Loc loc = Loc::current());
/// Priority 0..3 of this wave when instructions are issued.
void s_setprio(int priority, Loc loc = Loc::current());
/// The 100 MHz clock.
Uniform<Int64> s_memrealtime(Loc loc = Loc::current());
/// The shader clock.
Uniform<Int64> s_memtime(Loc loc = Loc::current());

/// Classes of instructions, to be or-ed.
enum SchedClass : int {
  kSchedNone = 0,
  kSchedAlu = 0x1,
  kSchedValu = 0x2,
  kSchedSalu = 0x4,
  kSchedMfma = 0x8,
  kSchedVmem = 0x10,
  kSchedVmemRead = 0x20,
  kSchedVmemWrite = 0x40,
  kSchedLds = 0x80,
  kSchedLdsRead = 0x100,
  kSchedLdsWrite = 0x200,
};
/// LLVM's scheduler moves only instructions of the classes `may_pass` across it.
void sched_barrier(int may_pass = kSchedNone, Loc loc = Loc::current());
/// Part of an order that the scheduler should build: `count` instructions of `classes`, in the pipeline `group`.
void sched_group_barrier(int classes, int count, int group, Loc loc = Loc::current());
/// Nothing is scheduled across it, and it emits no instruction.
void wave_barrier(Loc loc = Loc::current());

}  // namespace monojit::ir
