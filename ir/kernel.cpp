#include "ir/kernel.h"

#include <fmt/format.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/MDBuilder.h>

#include "ir/builder.h"

namespace monojit::ir {

namespace {

// Inputs that a kernel of one-dimensional groups never uses; declaring so keeps hidden arguments and unused system
// registers out of the code object.
constexpr const char* kUnusedInputs[] = {
    "amdgpu-no-cluster-id-x",       "amdgpu-no-cluster-id-y",      "amdgpu-no-cluster-id-z",
    "amdgpu-no-completion-action",  "amdgpu-no-default-queue",     "amdgpu-no-dispatch-id",
    "amdgpu-no-dispatch-ptr",       "amdgpu-no-flat-scratch-init", "amdgpu-no-heap-ptr",
    "amdgpu-no-hostcall-ptr",       "amdgpu-no-implicitarg-ptr",   "amdgpu-no-lds-kernel-id",
    "amdgpu-no-multigrid-sync-arg", "amdgpu-no-queue-ptr",         "amdgpu-no-workgroup-id-y",
    "amdgpu-no-workgroup-id-z",     "amdgpu-no-workitem-id-y",     "amdgpu-no-workitem-id-z",
};

llvm::Type* argument_type(llvm::IRBuilder<>& ir, ArgumentType type) {
  switch (type) {
    case ArgumentType::kPointer:
      return ir.getPtrTy(Global::kNumber);
    case ArgumentType::kInt32:
      return ir.getInt32Ty();
    case ArgumentType::kInt64:
      return ir.getInt64Ty();
    case ArgumentType::kFloat32:
      return ir.getFloatTy();
  }
  return nullptr;
}

}  // namespace

void Builder::create_function(const KernelOptions& options, Loc loc) {
  if (workgroup_size_ == 0 || workgroup_size_ > 1024) {
    fail("Kernel", fmt::format("a workgroup of {} threads: it has to be 1..1024", workgroup_size_), loc);
  }
  std::vector<llvm::Type*> types;
  for (const ArgumentSpec& argument : options.arguments) types.push_back(argument_type(ir_, argument.type));
  function_ = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), types, false),
                                     llvm::GlobalValue::ExternalLinkage, name_, module_.get());
  function_->setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  function_->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  set_attributes(options);
  describe_arguments(options);
  start_debug_info(loc);

  llvm::BasicBlock* entry = new_block("entry");
  llvm::BasicBlock* body = new_block("body");
  ir_.SetInsertPoint(entry);
  entry_end_ = ir_.CreateBr(body);
  ir_.SetInsertPoint(body);
  locate(loc);
}

void Builder::set_attributes(const KernelOptions& options) {
  llvm::AttrBuilder attributes(context);
  attributes.addAttribute("target-cpu", target_.arch);
  attributes.addAttribute("amdgpu-flat-work-group-size", fmt::format("{0},{0}", workgroup_size_));
  attributes.addAttribute("uniform-work-group-size", "true");
  if (options.max_waves_per_eu != 0) {
    attributes.addAttribute("amdgpu-waves-per-eu",
                            fmt::format("{},{}", std::max(options.min_waves_per_eu, 1U), options.max_waves_per_eu));
  } else if (options.min_waves_per_eu != 0) {
    attributes.addAttribute("amdgpu-waves-per-eu", fmt::format("{}", options.min_waves_per_eu));
  }
  attributes.addAttribute("denormal-fp-math", "ieee,ieee");
  attributes.addAttribute("denormal-fp-math-f32", "ieee,ieee");
  for (const char* input : kUnusedInputs) attributes.addAttribute(input);
  attributes.addAttribute(llvm::Attribute::NoUnwind);
  attributes.addAttribute(llvm::Attribute::NoRecurse);
  function_->addFnAttrs(attributes);
}

void Builder::describe_arguments(const KernelOptions& options) {
  std::vector<llvm::Metadata*> names;
  for (unsigned i = 0; i < options.arguments.size(); ++i) {
    const ArgumentSpec& spec = options.arguments[i];
    llvm::Argument* argument = function_->getArg(i);
    argument->setName(spec.name);
    names.push_back(llvm::MDString::get(context, spec.name));
    arguments_.emplace_back(spec.name, spec.type);
    if (spec.type != ArgumentType::kPointer) continue;
    llvm::AttrBuilder attributes(context);
    if (spec.no_alias) attributes.addAttribute(llvm::Attribute::NoAlias);
    if (!spec.written) attributes.addAttribute(llvm::Attribute::ReadOnly);
    if (spec.alignment != 0) attributes.addAlignmentAttr(spec.alignment);
    argument->addAttrs(attributes);
  }
  // The metadata node survives passes that drop value names.
  if (!names.empty()) function_->setMetadata("kernel_arg_name", llvm::MDNode::get(context, names));
}

std::unique_ptr<llvm::Module> Builder::finish(Loc loc) {
  if (module_ == nullptr) fail("Kernel::finish", "it was called before", loc);
  if (&current(loc) != this) fail("Kernel::finish", "another kernel was begun on this thread and is not finished", loc);
  locate(loc);
  if (return_block_ != nullptr) {
    ir_.CreateBr(return_block_);
    ir_.SetInsertPoint(return_block_);
  }
  ir_.CreateRetVoid();
  for (const llvm::BasicBlock& block : *function_)
    if (block.getTerminator() == nullptr) fail("Kernel::finish", "a block has no terminator", loc);
  check_scopes(*function_, *this);
  size_lds();
  warn_of_large_blocks();
  leave();
  return std::move(module_);
}

void Builder::size_lds() {
  if (lds.global == nullptr) return;
  llvm::Type* bytes = llvm::ArrayType::get(ir_.getInt8Ty(), lds.bytes);
  auto* sized = new llvm::GlobalVariable(*module_, bytes, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::PoisonValue::get(bytes), "lds", nullptr,
                                         llvm::GlobalValue::NotThreadLocal, Local::kNumber);
  sized->setAlignment(llvm::Align(16));
  lds.global->replaceAllUsesWith(sized);
  lds.global->eraseFromParent();
  lds.global = sized;
}

void Builder::warn_of_large_blocks() {
  for (const llvm::BasicBlock& block : *function_) {
    if (block.size() <= block_warning_) continue;
    std::string where = name_;
    for (const llvm::Instruction& instruction : block) {
      const llvm::DebugLoc& line = instruction.getDebugLoc();
      if (!line) continue;
      where = fmt::format("{}:{}", line->getFilename().str(), line.getLine());
      break;
    }
    warnings.push_back(
        fmt::format("{}: a basic block of {} instructions starts here (more than {}): LLVM's time grows faster than "
                    "linearly in them, so loop rather than unroll",
                    where, block.size(), block_warning_));
  }
}

Kernel::Kernel(const KernelOptions& options, Loc loc) : builder_(std::make_unique<Builder>(options, loc)) {}
Kernel::~Kernel() = default;
const Target& Kernel::target() const { return builder_->target(); }
std::uint32_t Kernel::workgroup_size() const { return builder_->workgroup_size(); }
const std::string& Kernel::name() const { return builder_->name(); }
std::unique_ptr<llvm::Module> Kernel::finish(Loc loc) { return builder_->finish(loc); }
std::uint32_t Kernel::lds_bytes() const { return builder_->lds.bytes; }
std::size_t Kernel::instructions() const { return builder_->instructions(); }
const std::vector<std::string>& Kernel::warnings() const { return builder_->warnings; }
llvm::Value* Kernel::argument_value(std::string_view name, ArgumentType type, Loc loc) const {
  return builder_->argument_value(name, type, loc);
}

const Target& target(Loc loc) { return Builder::current(loc).target(); }

Uniform<Int32> workgroup_id(Loc loc) {
  Builder& builder = Builder::current(loc);
  if (builder.once.workgroup_id == nullptr) {
    builder.once.workgroup_id = builder.in_entry([&] {
      return builder.ir().CreateIntrinsic(llvm::Intrinsic::amdgcn_workgroup_id_x, llvm::ArrayRef<llvm::Value*>());
    });
  }
  return Uniform<Int32>(Raw{builder.once.workgroup_id});
}

Int32 thread_id(Loc loc) {
  Builder& builder = Builder::current(loc);
  if (builder.once.thread_id == nullptr) {
    builder.once.thread_id = builder.in_entry([&] {
      llvm::CallInst* id =
          builder.ir().CreateIntrinsic(llvm::Intrinsic::amdgcn_workitem_id_x, llvm::ArrayRef<llvm::Value*>());
      const llvm::APInt first(32, 0);
      const llvm::APInt end(32, builder.workgroup_size());
      id->addRangeRetAttr(llvm::ConstantRange(first, end));
      return id;
    });
  }
  return Int32(Raw{builder.once.thread_id});
}

Int32 lane_id(Loc loc) {
  Builder& builder = Builder::current(loc);
  if (builder.once.lane_id == nullptr) {
    llvm::Value* thread = thread_id(loc).get();
    builder.once.lane_id =
        builder.in_entry([&] { return builder.ir().CreateAnd(thread, builder.target().wave_size - 1); });
  }
  return Int32(Raw{builder.once.lane_id});
}

Uniform<Int32> wave_id(Loc loc) {
  Builder& builder = Builder::current(loc);
  if (builder.once.wave_id == nullptr) {
    llvm::Value* thread = thread_id(loc).get();
    builder.once.wave_id = builder.in_entry([&]() -> llvm::Value* {
      llvm::Value* wave = builder.ir().CreateLShr(thread, 6);
      return builder.ir().CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {wave->getType()}, {wave});
    });
  }
  return Uniform<Int32>(Raw{builder.once.wave_id});
}

}  // namespace monojit::ir
