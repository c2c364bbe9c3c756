#include "ir/emit.h"

#include <limits>

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>

#include "ir/builder.h"
#include "ir/intrinsics.h"

namespace monojit::ir::emit {

namespace {

/// Every operand passes through here: a handle that holds nothing is the emitter's error, not a crash.
llvm::Value* checked(llvm::Value* value, Loc loc) {
  if (value == nullptr) Builder::current(loc).fail("operand", "a value is used that was never assigned", loc);
  return value;
}

llvm::Instruction::BinaryOps opcode(Binary operation) {
  switch (operation) {
    case Binary::kAdd:
      return llvm::Instruction::Add;
    case Binary::kSub:
      return llvm::Instruction::Sub;
    case Binary::kMul:
      return llvm::Instruction::Mul;
    case Binary::kSDiv:
      return llvm::Instruction::SDiv;
    case Binary::kUDiv:
      return llvm::Instruction::UDiv;
    case Binary::kSRem:
      return llvm::Instruction::SRem;
    case Binary::kURem:
      return llvm::Instruction::URem;
    case Binary::kAnd:
      return llvm::Instruction::And;
    case Binary::kOr:
      return llvm::Instruction::Or;
    case Binary::kXor:
      return llvm::Instruction::Xor;
    case Binary::kShl:
      return llvm::Instruction::Shl;
    case Binary::kLShr:
      return llvm::Instruction::LShr;
    case Binary::kAShr:
      return llvm::Instruction::AShr;
    case Binary::kFAdd:
      return llvm::Instruction::FAdd;
    case Binary::kFSub:
      return llvm::Instruction::FSub;
    case Binary::kFMul:
      return llvm::Instruction::FMul;
    case Binary::kFDiv:
      return llvm::Instruction::FDiv;
    case Binary::kFRem:
      return llvm::Instruction::FRem;
  }
  return llvm::Instruction::Add;
}

llvm::CmpInst::Predicate predicate_of(Compare predicate) {
  switch (predicate) {
    case Compare::kEq:
      return llvm::CmpInst::ICMP_EQ;
    case Compare::kNe:
      return llvm::CmpInst::ICMP_NE;
    case Compare::kSlt:
      return llvm::CmpInst::ICMP_SLT;
    case Compare::kSle:
      return llvm::CmpInst::ICMP_SLE;
    case Compare::kSgt:
      return llvm::CmpInst::ICMP_SGT;
    case Compare::kSge:
      return llvm::CmpInst::ICMP_SGE;
    case Compare::kUlt:
      return llvm::CmpInst::ICMP_ULT;
    case Compare::kUle:
      return llvm::CmpInst::ICMP_ULE;
    case Compare::kUgt:
      return llvm::CmpInst::ICMP_UGT;
    case Compare::kUge:
      return llvm::CmpInst::ICMP_UGE;
    case Compare::kFEq:
      return llvm::CmpInst::FCMP_OEQ;
    case Compare::kFNe:
      return llvm::CmpInst::FCMP_UNE;
    case Compare::kFLt:
      return llvm::CmpInst::FCMP_OLT;
    case Compare::kFLe:
      return llvm::CmpInst::FCMP_OLE;
    case Compare::kFGt:
      return llvm::CmpInst::FCMP_OGT;
    case Compare::kFGe:
      return llvm::CmpInst::FCMP_OGE;
    case Compare::kFUnordered:
      return llvm::CmpInst::FCMP_UNO;
  }
  return llvm::CmpInst::ICMP_EQ;
}

llvm::Instruction::CastOps opcode(Cast operation) {
  switch (operation) {
    case Cast::kTrunc:
      return llvm::Instruction::Trunc;
    case Cast::kZExt:
      return llvm::Instruction::ZExt;
    case Cast::kSExt:
      return llvm::Instruction::SExt;
    case Cast::kFPToSI:
      return llvm::Instruction::FPToSI;
    case Cast::kFPToUI:
      return llvm::Instruction::FPToUI;
    case Cast::kSIToFP:
      return llvm::Instruction::SIToFP;
    case Cast::kUIToFP:
      return llvm::Instruction::UIToFP;
    case Cast::kFPTrunc:
      return llvm::Instruction::FPTrunc;
    case Cast::kFPExt:
      return llvm::Instruction::FPExt;
    case Cast::kBitCast:
      return llvm::Instruction::BitCast;
  }
  return llvm::Instruction::BitCast;
}

}  // namespace

// ---- constants
// --------------------------------------------------------------------------------------------------------

llvm::Value* constant(Shape shape, std::int64_t value, Loc loc) {
  Builder& builder = Builder::current(loc);
  const unsigned bits = bits_of(shape.kind);
  if (bits < 64 && bits > 1) {
    const std::int64_t low = -(std::int64_t{1} << (bits - 1));
    const std::int64_t high = (std::int64_t{1} << bits) - 1;
    if (value < low || value > high)
      builder.fail("literal", fmt::format("{} does not fit into {} bits", value, bits), loc);
  }
  llvm::Type* type = builder.type(shape);
  const llvm::APInt number(bits, static_cast<std::uint64_t>(value), false, true);
  return llvm::ConstantInt::get(type, number);
}

llvm::Value* constant(Shape shape, double value, Loc loc) {
  return llvm::ConstantFP::get(Builder::current(loc).type(shape), value);
}

llvm::Value* zero(Shape shape) { return llvm::Constant::getNullValue(Builder::current({}).type(shape)); }

llvm::Value* undefined(Shape shape) { return llvm::PoisonValue::get(Builder::current({}).type(shape)); }

llvm::Value* flag(bool value) { return Builder::current({}).ir().getInt1(value); }

llvm::Value* immediate(std::int64_t value) {
  return llvm::ConstantInt::get(Builder::current({}).ir().getInt32Ty(), static_cast<std::uint64_t>(value), true, true);
}

llvm::Value* immediate16(std::int64_t value) {
  return llvm::ConstantInt::get(Builder::current({}).ir().getInt16Ty(), static_cast<std::uint64_t>(value), true, true);
}

// ---- arithmetic
// -------------------------------------------------------------------------------------------------------

llvm::Value* binary(Binary operation, llvm::Value* a, llvm::Value* b, Loc loc) {
  return Builder::at(loc).CreateBinOp(opcode(operation), checked(a, loc), checked(b, loc));
}

llvm::Value* compare(Compare predicate, llvm::Value* a, llvm::Value* b, Loc loc) {
  return Builder::at(loc).CreateCmp(predicate_of(predicate), checked(a, loc), checked(b, loc));
}

llvm::Value* negate(llvm::Value* a, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  return checked(a, loc)->getType()->isFPOrFPVectorTy() ? ir.CreateFNeg(a) : ir.CreateNeg(a);
}

llvm::Value* invert(llvm::Value* a, Loc loc) { return Builder::at(loc).CreateNot(checked(a, loc)); }

llvm::Value* cast(Cast operation, llvm::Value* a, Shape to, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  return ir.CreateCast(opcode(operation), checked(a, loc), Builder::current(loc).type(to));
}

llvm::Value* select(llvm::Value* condition, llvm::Value* a, llvm::Value* b, Loc loc) {
  return Builder::at(loc).CreateSelect(checked(condition, loc), checked(a, loc), checked(b, loc));
}

// ---- vectors
// ----------------------------------------------------------------------------------------------------------

llvm::Value* splat(llvm::Value* scalar, int lanes, Loc loc) {
  return Builder::at(loc).CreateVectorSplat(static_cast<unsigned>(lanes), checked(scalar, loc));
}

llvm::Value* extract(llvm::Value* vector, int index, Loc loc) {
  const auto size = llvm::cast<llvm::FixedVectorType>(checked(vector, loc)->getType())->getNumElements();
  if (index < 0 || static_cast<unsigned>(index) >= size) {
    Builder::current(loc).fail("element", fmt::format("index {} of a vector of {}", index, size), loc);
  }
  return Builder::at(loc).CreateExtractElement(vector, static_cast<std::uint64_t>(index));
}

llvm::Value* extract(llvm::Value* vector, llvm::Value* index, Loc loc) {
  return Builder::at(loc).CreateExtractElement(checked(vector, loc), checked(index, loc));
}

llvm::Value* insert(llvm::Value* vector, llvm::Value* element, int index, Loc loc) {
  const auto size = llvm::cast<llvm::FixedVectorType>(checked(vector, loc)->getType())->getNumElements();
  if (index < 0 || static_cast<unsigned>(index) >= size) {
    Builder::current(loc).fail("element", fmt::format("index {} of a vector of {}", index, size), loc);
  }
  return Builder::at(loc).CreateInsertElement(vector, checked(element, loc), static_cast<std::uint64_t>(index));
}

llvm::Value* shuffle(llvm::Value* a, llvm::Value* b, std::span<const int> indices, Loc loc) {
  const llvm::ArrayRef<int> mask(indices.data(), indices.size());
  llvm::IRBuilder<>& ir = Builder::at(loc);
  return b == nullptr ? ir.CreateShuffleVector(checked(a, loc), mask)
                      : ir.CreateShuffleVector(checked(a, loc), checked(b, loc), mask);
}

// ---- intrinsics
// -------------------------------------------------------------------------------------------------------

void require(Op op, Loc loc) { Builder::current(loc).require(op, loc); }

llvm::Value* call(Op op, std::initializer_list<llvm::Value*> operands, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  Builder& builder = Builder::current(loc);
  builder.require(op, loc);
  for (llvm::Value* operand : operands) checked(operand, loc);
  return ir.CreateCall(builder.declaration(op), llvm::ArrayRef<llvm::Value*>(operands.begin(), operands.size()));
}

llvm::Value* call(Op op, std::initializer_list<Shape> overload, std::initializer_list<llvm::Value*> operands, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  Builder& builder = Builder::current(loc);
  builder.require(op, loc);
  for (llvm::Value* operand : operands) checked(operand, loc);
  llvm::SmallVector<llvm::Type*, 4> types;
  for (const Shape shape : overload) types.push_back(builder.type(shape));
  return ir.CreateCall(builder.declaration(op, types), llvm::ArrayRef<llvm::Value*>(operands.begin(), operands.size()));
}

llvm::Value* result(llvm::Value* aggregate, unsigned index, Loc loc) {
  return Builder::at(loc).CreateExtractValue(aggregate, index);
}

llvm::Value* pin(llvm::Value* value, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  llvm::Type* type = checked(value, loc)->getType();
  auto* function = llvm::FunctionType::get(type, {type}, false);
  return ir.CreateCall(llvm::InlineAsm::get(function, "", "=v,0", /*hasSideEffects=*/true), {value});
}

// ---- variables and pointers
// -------------------------------------------------------------------------------------------

llvm::Value* variable(Shape shape, Loc loc) {
  Builder& builder = Builder::current(loc);
  return builder.variable(builder.type(shape));
}

llvm::Value* pointer_variable(unsigned address_space, Loc loc) {
  Builder& builder = Builder::current(loc);
  return builder.variable(builder.pointer_type(address_space));
}

llvm::Value* read_variable(llvm::Value* variable, Loc loc) {
  auto* slot = llvm::cast<llvm::AllocaInst>(checked(variable, loc));
  return Builder::at(loc).CreateLoad(slot->getAllocatedType(), slot);
}

void write_variable(llvm::Value* variable, llvm::Value* value, Loc loc) {
  Builder::at(loc).CreateStore(checked(value, loc), checked(variable, loc));
}

llvm::Value* offset(llvm::Value* pointer, llvm::Value* index, unsigned element_bytes, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(checked(index, loc));
  if (constant != nullptr && constant->isZero()) return checked(pointer, loc);
  llvm::Type* element = element_bytes == 1 ? ir.getInt8Ty() : ir.getIntNTy(element_bytes * 8);
  return ir.CreateInBoundsGEP(element, checked(pointer, loc), {checked(index, loc)});
}

llvm::Value* pointer_to_int(llvm::Value* pointer, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  const bool local = checked(pointer, loc)->getType()->getPointerAddressSpace() == Local::kNumber;
  return ir.CreatePtrToInt(pointer, local ? ir.getInt32Ty() : ir.getInt64Ty());
}

llvm::Value* int_to_pointer(llvm::Value* address, unsigned address_space, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  return ir.CreateIntToPtr(checked(address, loc), ir.getPtrTy(address_space));
}

llvm::Value* to_flat(llvm::Value* pointer, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  return ir.CreateAddrSpaceCast(checked(pointer, loc), ir.getPtrTy(Flat::kNumber));
}

}  // namespace monojit::ir::emit
