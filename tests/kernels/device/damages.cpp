#include "tests/kernels/device/damages.h"

#include <algorithm>
#include <initializer_list>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

namespace monojit::tests::damage {

namespace {

using llvm::Instruction;
using Instructions = std::vector<Instruction*>;

bool calls(const Instruction& instruction, std::initializer_list<llvm::Intrinsic::ID> ids) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call != nullptr && std::ranges::find(ids, call->getIntrinsicID()) != ids.end();
}

bool is_barrier(const Instruction& instruction) { return calls(instruction, {llvm::Intrinsic::amdgcn_s_barrier}); }

bool is_fence(const Instruction* instruction) {
  return instruction != nullptr && llvm::isa<llvm::FenceInst>(instruction);
}

bool is_fence_of_barrier(const Instruction& fence) {
  const Instruction* before = fence.getPrevNode();
  const Instruction* after = fence.getNextNode();
  return (before != nullptr && is_barrier(*before)) || (after != nullptr && is_barrier(*after));
}

std::size_t erase(const Instructions& instructions) {
  for (Instruction* instruction : instructions) instruction->eraseFromParent();
  return instructions.size();
}

std::size_t replace(Instruction& instruction, llvm::Value* value) {
  instruction.replaceAllUsesWith(value);
  instruction.eraseFromParent();
  return 1;
}

template <auto Replacement>
std::size_t replace_each(const Instructions& instructions) {
  for (Instruction* instruction : instructions) {
    llvm::IRBuilder<> ir(instruction);
    replace(*instruction, Replacement(ir, *instruction));
  }
  return instructions.size();
}

std::size_t erase_barriers(const Instructions& barriers) {
  std::size_t gone = 0;
  for (Instruction* barrier : barriers) {
    for (Instruction* neighbour : {barrier->getPrevNode(), barrier->getNextNode()}) {
      if (is_fence(neighbour)) gone += erase({neighbour});
    }
    gone += erase({barrier});
  }
  return gone;
}

// The cache policy is the last operand.
llvm::ConstantInt* policy(const Instruction& instruction) {
  const auto& call = llvm::cast<llvm::CallBase>(instruction);
  return llvm::cast<llvm::ConstantInt>(call.getArgOperand(call.arg_size() - 1));
}

bool is_scoped_store(const Instruction& instruction) {
  return calls(instruction, {llvm::Intrinsic::amdgcn_raw_ptr_buffer_store}) && !policy(instruction)->isZero();
}

// Waves wake one after the other, which nothing but a barrier makes up for.
void sleep_before(Instruction& instruction) {
  constexpr int kTicks = 100'000'000;
  constexpr int kLaneTicks = 100'000;
  llvm::BasicBlock* before = instruction.getParent();
  llvm::BasicBlock* behind = before->splitBasicBlock(instruction.getIterator());
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(instruction.getContext(), "", before->getParent(), behind);
  llvm::IRBuilder<> ir(before->getTerminator());
  ir.SetCurrentDebugLocation(instruction.getDebugLoc());
  llvm::Value* lane = ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_workitem_id_x, {});
  llvm::Value* first = ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {ir.getInt32Ty()}, {lane});
  llvm::Value* ticks = ir.CreateAdd(ir.CreateMul(first, ir.getInt32(kLaneTicks)), ir.getInt32(kTicks));
  llvm::Value* end = ir.CreateAdd(ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_memrealtime, {}),
                                  ir.CreateZExt(ticks, ir.getInt64Ty()));
  before->getTerminator()->setSuccessor(0, loop);
  ir.SetInsertPoint(loop);
  ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_sleep, {ir.getInt32(1)});
  llvm::Value* now = ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_memrealtime, {});
  ir.CreateCondBr(ir.CreateICmpULT(now, end), loop, behind);
}

std::size_t sleep_before_each(const Instructions& instructions) {
  for (Instruction* instruction : instructions) sleep_before(*instruction);
  return instructions.size();
}

// The flag behind rows is the next store with a scope.
std::size_t sleep_behind_flags(const Instructions& rows) {
  for (Instruction* row : rows) {
    auto flag = llvm::inst_begin(row->getFunction());
    while (&*flag != row) ++flag;
    do ++flag;
    while (!is_scoped_store(*flag));
    sleep_before(*flag->getNextNode());
  }
  return rows.size();
}

bool is_scoped_load(const Instruction& instruction) {
  return calls(instruction,
               {llvm::Intrinsic::amdgcn_raw_ptr_buffer_load, llvm::Intrinsic::amdgcn_raw_ptr_atomic_buffer_load}) &&
         !policy(instruction)->isZero();
}

std::size_t drop_scopes(const Instructions& accesses) {
  for (Instruction* access : accesses) {
    auto& call = llvm::cast<llvm::CallBase>(*access);
    call.setArgOperand(call.arg_size() - 1, llvm::ConstantInt::get(policy(call)->getType(), 0));
  }
  return accesses.size();
}

bool is_atomic_store(const Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store != nullptr && store->isAtomic();
}

std::size_t make_plain(const Instructions& stores) {
  for (Instruction* store : stores) llvm::cast<llvm::StoreInst>(store)->setAtomic(llvm::AtomicOrdering::NotAtomic);
  return stores.size();
}

// IfRarely() weighs its branch.
bool is_rare_branch(const Instruction& instruction) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
  return branch != nullptr && branch->isConditional() && branch->hasMetadata(llvm::LLVMContext::MD_prof);
}

std::size_t never_branch(const Instructions& branches) {
  for (Instruction* branch : branches) {
    llvm::cast<llvm::BranchInst>(branch)->setCondition(llvm::ConstantInt::getFalse(branch->getContext()));
  }
  return branches.size();
}

bool rounds_to_bf16(const Instruction& instruction) {
  return instruction.getOpcode() == Instruction::FPTrunc && instruction.getType()->getScalarType()->isBFloatTy();
}

llvm::Value* cut(llvm::IRBuilder<>& ir, Instruction& rounding) {
  const auto shape = [&](llvm::Type* element) { return rounding.getType()->getWithNewType(element); };
  llvm::Value* bits = ir.CreateBitCast(rounding.getOperand(0), shape(ir.getInt32Ty()));
  llvm::Value* upper = ir.CreateTrunc(ir.CreateLShr(bits, 16), shape(ir.getInt16Ty()));
  return ir.CreateBitCast(upper, rounding.getType());
}

bool widens_a_rounded(const Instruction& instruction) {
  if (instruction.getOpcode() != Instruction::FPExt) return false;
  const auto* source = llvm::dyn_cast<Instruction>(instruction.getOperand(0));
  return source != nullptr && rounds_to_bf16(*source);
}

llvm::Value* unrounded(llvm::IRBuilder<>&, Instruction& widening) {
  return llvm::cast<Instruction>(widening.getOperand(0))->getOperand(0);
}

llvm::Value* two_roundings(llvm::IRBuilder<>& ir, Instruction& fma) {
  return ir.CreateFAdd(ir.CreateFMul(fma.getOperand(0), fma.getOperand(1)), fma.getOperand(2));
}

const Instruction* double_product(const Instruction& rounding) {
  if (rounding.getOpcode() != Instruction::FPTrunc) return nullptr;
  const auto* product = llvm::dyn_cast<Instruction>(rounding.getOperand(0));
  const bool is_it = product != nullptr && product->getOpcode() == Instruction::FMul &&
                     product->getType()->getScalarType()->isDoubleTy() &&
                     llvm::isa<llvm::FPExtInst>(product->getOperand(0)) &&
                     llvm::isa<llvm::ConstantFP>(product->getOperand(1));
  return is_it ? product : nullptr;
}

llvm::Value* single_product(llvm::IRBuilder<>& ir, Instruction& rounding) {
  const Instruction& product = *double_product(rounding);
  const double factor = llvm::cast<llvm::ConstantFP>(product.getOperand(1))->getValueAPF().convertToDouble();
  return ir.CreateFMul(llvm::cast<Instruction>(product.getOperand(0))->getOperand(0),
                       llvm::ConstantFP::get(rounding.getType(), static_cast<double>(static_cast<float>(factor))));
}

// A chain's links are used by the next ones alone, so all may move down to the last, behind what any of them needs.
void gather(const Instructions& chain) {
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) chain[i]->moveBefore(chain.back()->getIterator());
}

void exchange(Instruction& a, Instruction& b, unsigned operand) {
  llvm::Value* kept = a.getOperand(operand);
  a.setOperand(operand, b.getOperand(operand));
  b.setOperand(operand, kept);
}

std::size_t reorder(const Instructions& chain, std::initializer_list<unsigned> operands) {
  if (chain.size() < 2) return 0;
  gather(chain);
  for (const unsigned operand : operands) exchange(*chain.front(), *chain.back(), operand);
  return 2;
}

}  // namespace

const Damage kNoBarrier = {is_barrier, erase_barriers};
const Damage kNoWait = {[](const Instruction& i) { return calls(i, {llvm::Intrinsic::amdgcn_s_waitcnt}); }, erase};
const Damage kNoFence = {[](const Instruction& i) { return is_fence(&i) && !is_fence_of_barrier(i); }, erase};
const Damage kStoreWithoutScope = {is_scoped_store, drop_scopes};
const Damage kLoadWithoutScope = {is_scoped_load, drop_scopes};
const Damage kLateStore = {is_scoped_store, sleep_before_each};
const Damage kSleepBehindFlag = {is_scoped_store, sleep_behind_flags};
const Damage kLateRows = {is_scoped_store, [](const Instructions& rows) {
                            sleep_behind_flags(rows);
                            return sleep_before_each(rows);
                          }};
const Damage kPlainStore = {is_atomic_store, make_plain};
const Damage kNeverRetried = {is_rare_branch, never_branch};
const Damage kNoStore = {[](const Instruction& i) { return calls(i, {llvm::Intrinsic::amdgcn_raw_ptr_buffer_store}); },
                         erase};
const Damage kCutBFloat16 = {rounds_to_bf16, replace_each<cut>};
const Damage kUnrounded = {widens_a_rounded, replace_each<unrounded>};
const Damage kTwoRoundings = {[](const Instruction& i) { return calls(i, {llvm::Intrinsic::fma}); },
                              replace_each<two_roundings>};
const Damage kNoProduct = {kTwoRoundings.concerns,
                           replace_each<[](llvm::IRBuilder<>&, Instruction& fma) { return fma.getOperand(2); }>};
const Damage kSinglePrecision = {[](const Instruction& i) { return double_product(i) != nullptr; },
                                 replace_each<single_product>};
const Damage kSumReordered = {[](const Instruction& i) { return i.getOpcode() == Instruction::FAdd; },
                              [](const Instructions& chain) { return reorder(chain, {1}); }};
const Damage kMfmaReordered = {
    [](const Instruction& i) { return calls(i, {llvm::Intrinsic::amdgcn_mfma_f32_16x16x32_fp8_fp8}); },
    [](const Instructions& chain) { return reorder(chain, {0, 1}); }};
const Damage kNoClamp = {[](const Instruction& i) {
                           return calls(i, {llvm::Intrinsic::maximum, llvm::Intrinsic::minimum}) &&
                                  llvm::isa<llvm::Constant>(i.getOperand(1));
                         },
                         replace_each<[](llvm::IRBuilder<>&, Instruction& i) { return i.getOperand(0); }>};

const Damage kNoMask = {[](const Instruction& i) {
                          return i.getOpcode() == Instruction::And && llvm::isa<llvm::ConstantInt>(i.getOperand(1));
                        },
                        replace_each<[](llvm::IRBuilder<>&, Instruction& i) { return i.getOperand(0); }>};
const Damage kNothingLeft = {kNoMask.concerns, replace_each<[](llvm::IRBuilder<>&, Instruction& i) {
                               return static_cast<llvm::Value*>(llvm::Constant::getNullValue(i.getType()));
                             }>};

const Damage kNoLayer = {[](const Instruction& i) {
                           if (i.getOpcode() != Instruction::Add) return false;
                           const auto* const argument = llvm::dyn_cast<llvm::Argument>(i.getOperand(1));
                           return argument != nullptr && argument->getName() == "layer";
                         },
                         kNoMask.apply};

}  // namespace monojit::tests::damage
