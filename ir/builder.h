#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/ops.h"
#include "ir/sync.h"
#include "ir/types.h"

namespace llvm {
class DICompileUnit;
class DIScope;
class DISubprogram;
}  // namespace llvm

namespace monojit::ir {

/// The state behind a Kernel. Only the DSL's own .cpp files see it.
class Builder {
 public:
  Builder(const KernelOptions& options, Loc loc);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// The innermost kernel that is alive on this thread; BuildError when there is none.
  static Builder& current(Loc loc);
  /// The same, positioned at a source line: the instructions that follow carry it.
  static llvm::IRBuilder<>& at(Loc loc);

  llvm::IRBuilder<>& ir() { return ir_; }
  llvm::Type* type(Shape shape);
  llvm::Type* pointer_type(unsigned address_space) { return ir_.getPtrTy(address_space); }
  /// The declaration of an intrinsic that is not overloaded.
  llvm::Function* declaration(Op op);
  llvm::Function* declaration(Op op, llvm::ArrayRef<llvm::Type*> overload);
  void require(Op op, Loc loc) const;
  const Target& target() const { return target_; }
  [[noreturn]] void fail(std::string_view operation, std::string_view problem, Loc loc) const;

  llvm::BasicBlock* new_block(const char* name);
  /// A variable in the entry block.
  llvm::AllocaInst* variable(llvm::Type* type);
  /// Emits into the entry block, so that the value may be used everywhere.
  template <class F>
  llvm::Value* in_entry(F&& emit) {
    const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
    ir_.SetInsertPoint(entry_end_);
    return emit();
  }

  struct Once {  // values that are computed at most once a kernel
    llvm::Value* thread_id = nullptr;
    llvm::Value* lane_id = nullptr;
    llvm::Value* wave_id = nullptr;
    llvm::Value* workgroup_id = nullptr;
    std::array<llvm::Value*, 64> lane_xor_address = {};
  };
  Once once;

  struct LoopScope {
    llvm::BasicBlock* exit;
  };
  std::vector<LoopScope> loops;
  llvm::BasicBlock* return_block();
  /// LLVM's synchronisation scope for a Scope.
  llvm::SyncScope::ID sync_scope(unsigned scope);

  struct Lds {
    llvm::GlobalVariable* global = nullptr;
    std::uint32_t position = 0;  // where the next array goes
    std::uint32_t bytes = 0;     // the largest position so far
    std::string largest;         // the array that reaches it
  };
  Lds lds;

  llvm::Value* argument_value(std::string_view name, ArgumentType type, Loc loc) const;
  std::unique_ptr<llvm::Module> finish(Loc loc);

  llvm::LLVMContext context;
  std::vector<std::string> warnings;
  const std::string& name() const { return name_; }
  std::uint32_t workgroup_size() const { return workgroup_size_; }
  llvm::Function* function() const { return function_; }
  std::size_t instructions() const;

 private:
  friend class Kernel;
  /// Is no longer the current kernel of its thread.
  void leave();
  void create_function(const KernelOptions& options, Loc loc);
  void set_attributes(const KernelOptions& options);
  void describe_arguments(const KernelOptions& options);
  void start_debug_info(Loc loc);
  void locate(Loc loc);
  llvm::DIScope* scope_of(const char* file);
  void size_lds();
  void warn_of_large_blocks();

  std::string name_;
  Target target_;
  std::uint32_t workgroup_size_;
  std::uint32_t block_warning_;
  std::vector<std::pair<std::string, ArgumentType>> arguments_;
  std::unique_ptr<llvm::Module> module_;
  llvm::IRBuilder<> ir_;
  llvm::Function* function_ = nullptr;
  llvm::Instruction* entry_end_ = nullptr;
  llvm::Instruction* first_variable_ = nullptr;
  llvm::BasicBlock* return_block_ = nullptr;
  std::vector<llvm::Function*> declarations_;
  std::array<llvm::SyncScope::ID, 4> sync_scopes_ = {};
  llvm::DISubprogram* subprogram_ = nullptr;
  llvm::DICompileUnit* unit_ = nullptr;
  std::vector<std::pair<const char*, llvm::DIScope*>> files_;
  const char* last_file_ = nullptr;
  unsigned last_line_ = 0;
  Builder* outer_ = nullptr;
};

/// Checks that each value of `function` is used where it exists; throws BuildError with the lines of both.
void check_scopes(const llvm::Function& function, const Builder& builder);

/// LLVM's name for a memory order.
llvm::AtomicOrdering ordering(Order order);

}  // namespace monojit::ir
