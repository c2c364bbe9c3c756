#include "ir/control.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include "ir/builder.h"

namespace monojit::ir {

namespace {
constexpr std::uint32_t kRareWeight = 1;
constexpr std::uint32_t kUsualWeight = 2000;

/// What an emitter writes as a loop is meant as one: LLVM neither unrolls nor vectorises it.
void keep_rolled(llvm::BranchInst* back_edge, llvm::LLVMContext& context) {
  const auto property = [&](const char* name, llvm::Metadata* value) {
    llvm::SmallVector<llvm::Metadata*, 2> parts = {llvm::MDString::get(context, name)};
    if (value != nullptr) parts.push_back(value);
    return llvm::MDNode::get(context, parts);
  };
  llvm::Metadata* no = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(
      context, {nullptr, property("llvm.loop.unroll.disable", nullptr), property("llvm.loop.vectorize.enable", no)});
  loop->replaceOperandWith(0, loop);
  back_edge->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

llvm::Value* checked(Builder& builder, llvm::Value* value, const char* operation, Loc loc) {
  if (value == nullptr) builder.fail(operation, "a value is used that was never assigned", loc);
  return value;
}
}  // namespace

namespace detail {

// If: after a body the builder stands in `next`, where a false condition leads. The bodies' ends lead there too, until
// an ElseIf or Else claims `next` for the false side: then they move on to the block behind that.

void begin_branch(Branch& branch, llvm::Value* condition, bool rarely, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  llvm::BasicBlock* then = builder.new_block("then");
  branch.next = builder.new_block("else");
  llvm::BranchInst* jump = ir.CreateCondBr(checked(builder, condition, "If", loc), then, branch.next);
  if (rarely) {
    jump->setMetadata(llvm::LLVMContext::MD_prof,
                      llvm::MDBuilder(builder.context).createBranchWeights(kRareWeight, kUsualWeight));
  }
  ir.SetInsertPoint(then);
}

namespace {
void join_at(Branch& branch, llvm::BasicBlock* block) {
  for (llvm::BasicBlock* end : branch.ends) end->getTerminator()->setSuccessor(0, block);
}
}  // namespace

void end_branch(Branch& branch, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  join_at(branch, branch.next);
  branch.ends.push_back(ir.GetInsertBlock());
  ir.CreateBr(branch.next);
  ir.SetInsertPoint(branch.next);
}

void begin_otherwise(Branch& branch, Loc loc) {
  Builder& builder = Builder::current(loc);
  if (builder.ir().GetInsertBlock() != branch.next || !branch.next->empty()) {
    builder.fail("Else", "other code stands between the If and its Else", loc);
  }
  llvm::BasicBlock* join = builder.new_block("join");
  join_at(branch, join);
  branch.next = join;
}

void end_otherwise(Branch& branch, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  ir.CreateBr(branch.next);
  ir.SetInsertPoint(branch.next);
}

llvm::Value* begin_count(Loop& loop, llvm::Value* begin, llvm::Value* end, llvm::Value* step, Loc loc) {
  Builder& builder = Builder::current(loc);
  checked(builder, end, "For", loc);
  llvm::Type* type = checked(builder, begin, "For", loc)->getType();
  llvm::BasicBlock* before = builder.ir().GetInsertBlock();
  begin_loop(loop, loc);
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::PHINode* counter = ir.CreatePHI(type, 2, "i");
  counter->addIncoming(begin, before);
  loop.counter = counter;
  loop.step = step;
  loop_while(loop, ir.CreateICmpSLT(counter, end), loc);
  return counter;
}

void end_count(Loop& loop, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  llvm::Value* next = ir.CreateNSWAdd(loop.counter, loop.step);
  llvm::cast<llvm::PHINode>(loop.counter)->addIncoming(next, ir.GetInsertBlock());
  end_loop(loop, nullptr, loc);
}

void begin_loop(Loop& loop, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  loop.header = builder.new_block("loop");
  loop.exit = builder.new_block("exit");
  builder.loops.push_back({loop.exit});
  ir.CreateBr(loop.header);
  ir.SetInsertPoint(loop.header);
}

void loop_while(Loop& loop, llvm::Value* condition, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  llvm::BasicBlock* body = builder.new_block("do");
  ir.CreateCondBr(checked(builder, condition, "While", loc), body, loop.exit);
  ir.SetInsertPoint(body);
}

void end_loop(Loop& loop, llvm::Value* again, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  llvm::BranchInst* back = again == nullptr ? ir.CreateBr(loop.header) : ir.CreateCondBr(again, loop.header, loop.exit);
  keep_rolled(back, builder.context);
  builder.loops.pop_back();
  ir.SetInsertPoint(loop.exit);
}

}  // namespace detail

namespace {
void leave_if(const Bool& condition, llvm::BasicBlock* target, const char* operation, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  llvm::BasicBlock* on = builder.new_block("on");
  ir.CreateCondBr(checked(builder, condition.get(), operation, loc), target, on);
  ir.SetInsertPoint(on);
}
}  // namespace

void BreakIf(const Bool& condition, Loc loc) {
  Builder& builder = Builder::current(loc);
  if (builder.loops.empty()) builder.fail("BreakIf", "there is no loop here", loc);
  leave_if(condition, builder.loops.back().exit, "BreakIf", loc);
}

void ReturnIf(const Bool& condition, Loc loc) {
  leave_if(condition, Builder::current(loc).return_block(), "ReturnIf", loc);
}

}  // namespace monojit::ir
