#include "ir/sync.h"

#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>

#include "ir/builder.h"

namespace monojit::ir {

namespace {

// s_waitcnt: vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8; all ones: no wait.
constexpr int kMaxVmcnt = 63;
constexpr int kMaxLgkmcnt = 15;
constexpr int kMaxExpcnt = 7;

int encode_waits(int vmcnt, int lgkmcnt) { return (vmcnt & 0xF) | (vmcnt >> 4) << 14 | kMaxExpcnt << 4 | lgkmcnt << 8; }

void check_range(const char* operation, int value, int first, int last, Loc loc) {
  if (value < first || value > last) {
    Builder::current(loc).fail(operation, fmt::format("{} is outside of {}..{}", value, first, last), loc);
  }
}

}  // namespace

llvm::AtomicOrdering ordering(Order order) {
  switch (order) {
    case Order::kRelaxed:
      return llvm::AtomicOrdering::Monotonic;
    case Order::kAcquire:
      return llvm::AtomicOrdering::Acquire;
    case Order::kRelease:
      return llvm::AtomicOrdering::Release;
    case Order::kAcquireRelease:
      return llvm::AtomicOrdering::AcquireRelease;
    case Order::kSequential:
      return llvm::AtomicOrdering::SequentiallyConsistent;
  }
  return llvm::AtomicOrdering::SequentiallyConsistent;
}

void barrier(Loc loc) {
  fence(Scope::kWorkgroup, Order::kRelease, loc);
  s_barrier(loc);
  fence(Scope::kWorkgroup, Order::kAcquire, loc);
}

void s_barrier(Loc loc) { emit::call(Op::s_barrier, {}, loc); }

void fence(Scope scope, Order order, Loc loc) {
  Builder& builder = Builder::current(loc);
  if (order == Order::kRelaxed) builder.fail("fence", "a relaxed fence orders nothing", loc);
  Builder::at(loc).CreateFence(ordering(order), builder.sync_scope(static_cast<unsigned>(scope)));
}

void compiler_fence(Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  ir.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(ir.getVoidTy(), false), "", "~{memory}", true));
}

void wait_vmcnt(int n, Loc loc) {
  check_range("wait_vmcnt", n, 0, kMaxVmcnt, loc);
  emit::call(Op::s_waitcnt, {emit::immediate(encode_waits(n, kMaxLgkmcnt))}, loc);
}

void wait_lgkmcnt(int n, Loc loc) {
  check_range("wait_lgkmcnt", n, 0, kMaxLgkmcnt, loc);
  emit::call(Op::s_waitcnt, {emit::immediate(encode_waits(kMaxVmcnt, n))}, loc);
}

void wait_all(Loc loc) { emit::call(Op::s_waitcnt, {emit::immediate(0)}, loc); }

void s_sleep(int n, Loc loc) {
  check_range("s_sleep", n, 1, 127, loc);
  emit::call(Op::s_sleep, {emit::immediate(n)}, loc);
}

void s_setprio(int priority, Loc loc) {
  check_range("s_setprio", priority, 0, 3, loc);
  emit::call(Op::s_setprio, {emit::immediate16(priority)}, loc);
}

Uniform<Int64> s_memrealtime(Loc loc) { return Uniform<Int64>(Raw{emit::call(Op::s_memrealtime, {}, loc)}); }

Uniform<Int64> s_memtime(Loc loc) { return Uniform<Int64>(Raw{emit::call(Op::s_memtime, {}, loc)}); }

void sched_barrier(int may_pass, Loc loc) { emit::call(Op::sched_barrier, {emit::immediate(may_pass)}, loc); }

void sched_group_barrier(int classes, int count, int group, Loc loc) {
  emit::call(Op::sched_group_barrier, {emit::immediate(classes), emit::immediate(count), emit::immediate(group)}, loc);
}

void wave_barrier(Loc loc) { emit::call(Op::wave_barrier, {}, loc); }

}  // namespace monojit::ir
