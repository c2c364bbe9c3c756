#include "ir/builder.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/TargetParser/Triple.h>

#include "ir/intrinsics.h"

namespace monojit::ir {

namespace {
thread_local Builder* g_current = nullptr;
}

Builder::Builder(const KernelOptions& options, Loc loc)
    : name_(options.name),
      target_(options.target),
      workgroup_size_(options.workgroup_size),
      block_warning_(options.block_warning),
      module_(std::make_unique<llvm::Module>(name_, context)),
      ir_(context),
      declarations_(ops().size()) {
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  module_->setTargetTriple(triple);
  module_->setDataLayout(triple.computeDataLayout());
  module_->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500);
  sync_scopes_ = {context.getOrInsertSyncScopeID("wavefront"), context.getOrInsertSyncScopeID("workgroup"),
                  context.getOrInsertSyncScopeID("agent"), llvm::SyncScope::System};
  create_function(options, loc);
  outer_ = std::exchange(g_current, this);
}

Builder::~Builder() { leave(); }

void Builder::leave() {
  for (Builder** link = &g_current; *link != nullptr; link = &(*link)->outer_) {
    if (*link != this) continue;
    *link = outer_;
    return;
  }
}

Builder& Builder::current(Loc loc) {
  if (g_current == nullptr)
    throw BuildError("DSL", "", "no kernel is being built on this thread: make an ir::Kernel first", loc);
  return *g_current;
}

llvm::IRBuilder<>& Builder::at(Loc loc) {
  Builder& builder = current(loc);
  builder.locate(loc);
  return builder.ir_;
}

void Builder::fail(std::string_view operation, std::string_view problem, Loc loc) const {
  throw BuildError(operation, target_.arch, problem, loc);
}

void Builder::require(Op op, Loc loc) const {
  const OpInfo& operation = info(op);
  if (!operation.available(target_.chip)) fail(operation.name, "the chip has no such operation", loc);
}

llvm::Type* Builder::type(Shape shape) {
  llvm::Type* element = nullptr;
  switch (shape.kind) {
    case Kind::kBool:
      element = ir_.getInt1Ty();
      break;
    case Kind::kInt8:
    case Kind::kUInt8:
      element = ir_.getInt8Ty();
      break;
    case Kind::kInt16:
      element = ir_.getInt16Ty();
      break;
    case Kind::kInt32:
      element = ir_.getInt32Ty();
      break;
    case Kind::kInt64:
      element = ir_.getInt64Ty();
      break;
    case Kind::kFloat16:
      element = ir_.getHalfTy();
      break;
    case Kind::kBFloat16:
      element = ir_.getBFloatTy();
      break;
    case Kind::kFloat32:
      element = ir_.getFloatTy();
      break;
    case Kind::kFloat64:
      element = ir_.getDoubleTy();
      break;
  }
  return shape.lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(shape.lanes));
}

llvm::Function* Builder::declaration(Op op) {
  llvm::Function*& known = declarations_[static_cast<std::size_t>(op)];
  if (known == nullptr) known = declaration(op, {});
  return known;
}

llvm::Function* Builder::declaration(Op op, llvm::ArrayRef<llvm::Type*> overload) {
  return llvm::Intrinsic::getOrInsertDeclaration(module_.get(), static_cast<llvm::Intrinsic::ID>(intrinsic_of(op)),
                                                 overload);
}

llvm::BasicBlock* Builder::new_block(const char* name) { return llvm::BasicBlock::Create(context, name, function_); }

llvm::AllocaInst* Builder::variable(llvm::Type* type) {
  const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(first_variable_ != nullptr ? first_variable_ : entry_end_);
  llvm::AllocaInst* slot = ir_.CreateAlloca(type, 5);
  return slot;
}

llvm::BasicBlock* Builder::return_block() {
  if (return_block_ == nullptr) return_block_ = new_block("return");
  return return_block_;
}

llvm::SyncScope::ID Builder::sync_scope(unsigned scope) { return sync_scopes_[scope]; }

std::size_t Builder::instructions() const { return function_->getInstructionCount(); }

llvm::Value* Builder::argument_value(std::string_view name, ArgumentType type, Loc loc) const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].first != name) continue;
    if (arguments_[i].second != type) fail("argument", fmt::format("'{}' of {} is of another type", name, name_), loc);
    return function_->getArg(static_cast<unsigned>(i));
  }
  fail("argument", fmt::format("{} has no argument '{}'", name_, name), loc);
}

// ---- debug lines
// ------------------------------------------------------------------------------------------------------

void Builder::start_debug_info(Loc loc) {
  module_->addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module_->addModuleFlag(llvm::Module::Warning, "Dwarf Version", 5);
  llvm::DIBuilder debug(*module_);
  llvm::DIFile* file = debug.createFile(loc.file_name(), ".");
  unit_ = debug.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C_plus_plus_14), file, "monojit",
                                  true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  subprogram_ = debug.createFunction(file, name_, name_, file, loc.line(),
                                     debug.createSubroutineType(debug.getOrCreateTypeArray({})), loc.line(),
                                     llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  function_->setSubprogram(subprogram_);
  debug.finalize();
  files_.emplace_back(loc.file_name(), subprogram_);
}

llvm::DIScope* Builder::scope_of(const char* file) {
  for (const auto& [name, scope] : files_)
    if (name == file) return scope;
  llvm::DIScope* scope = llvm::DILexicalBlockFile::get(context, subprogram_, llvm::DIFile::get(context, file, "."), 0);
  files_.emplace_back(file, scope);
  return scope;
}

void Builder::locate(Loc loc) {
  if (loc.line() == 0 || (loc.file_name() == last_file_ && loc.line() == last_line_)) return;
  last_file_ = loc.file_name();
  last_line_ = loc.line();
  ir_.SetCurrentDebugLocation(llvm::DILocation::get(context, loc.line(), 0, scope_of(loc.file_name())));
}

}  // namespace monojit::ir
