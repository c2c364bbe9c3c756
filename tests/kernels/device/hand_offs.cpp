#include "tests/kernels/device/hand_offs.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "ir/target.h"
#include "kernels/emitters.h"
#include "tests/kernels/device/damages.h"
#include "tests/kernels/device/launch.h"

namespace monojit::tests {
namespace {

using Places = std::vector<const llvm::Instruction*>;

constexpr std::size_t kBarrierInstructions = 3;  // itself and its fences
constexpr std::size_t kPeers = 8;                // stores of a push

std::string file_of(const llvm::Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc().get();
  const std::string path = location == nullptr ? "" : location->getFilename().str();
  return path.substr(path.rfind('/') + 1);
}

/// The hand-offs that one damage is about, in the order of the function.
class Finder {
 public:
  Finder(const llvm::Module& module, std::string_view kind, const Damage& damage, std::vector<HandOff>& found)
      : kind_(kind), damage_(damage), found_(found) {
    for (const llvm::Function& function : module) {
      for (const llvm::Instruction& instruction : llvm::instructions(function)) {
        if (damage.concerns(instruction)) places_.push_back(&instruction);
      }
    }
  }

  /// A hand-off is `size` places of a file, which harming them changes `changes` times.
  void each(std::string_view file, std::size_t size, std::size_t changes) {
    const Places all = of(file);
    for (std::size_t first = 0; first < all.size(); first += size) add(all, file, first, size, changes);
  }
  /// A hand-off is what lies between places of the file `between`.
  void each_between(std::string_view file, std::string_view between) {
    const Places all = of(file);
    std::size_t first = 0;
    std::size_t end = 0;
    for (const llvm::Instruction* place : places_) {
      if (file_of(*place) == file) ++end;
      if (file_of(*place) != between || first == end) continue;
      add(all, file, first, end - first, end - first);
      first = end;
    }
  }
  /// Every place of every file is one.
  void each_anywhere(std::size_t changes) {
    std::map<std::string, std::size_t> seen;
    for (const llvm::Instruction* place : places_) {
      const std::string file = file_of(*place);
      if (seen[file]++ == 0) each(file, 1, changes);
    }
  }

 private:
  Places of(std::string_view file) const {
    Places some = places_;
    std::erase_if(some, [&](const llvm::Instruction* place) { return file_of(*place) != file; });
    return some;
  }
  void add(const Places& all, std::string_view file, std::size_t first, std::size_t size, std::size_t changes) {
    const unsigned line = all[first]->getDebugLoc().getLine();
    Mutation without = {.name = "",
                        .damage = damage_,
                        .file = std::string(file),
                        .changes = changes,
                        .first = static_cast<int>(first),
                        .count = static_cast<int>(size)};
    found_.push_back({fmt::format("{} {}:{}, from place {} on", kind_, file, line, first), std::move(without)});
  }

  std::string_view kind_;
  const Damage& damage_;
  std::vector<HandOff>& found_;
  Places places_;
};

}  // namespace

std::vector<HandOff> hand_offs(const kernels::BuildKey& key) {
  const std::unique_ptr<ir::Kernel> kernel = kernels::emit(key, *ir::find_target(device().arch()));
  const std::unique_ptr<llvm::Module> module = kernel->finish();
  std::vector<HandOff> found;
  const auto finder = [&](std::string_view kind, const Damage& damage) { return Finder(*module, kind, damage, found); };
  finder("wait", damage::kNeverRetried).each("mailbox.cpp", 1, 1);
  finder("wait for stores", damage::kNoWait).each("context.cpp", 1, 1);
  finder("barrier", damage::kNoBarrier).each_anywhere(kBarrierInstructions);
  finder("scope of pairs put", damage::kStoreWithoutScope).each("mailbox.cpp", 1, 1);
  finder("scope of pairs polled", damage::kLoadWithoutScope).each_between("mailbox.cpp", "wait_bound.cpp");
  finder("scope of rows stored", damage::kStoreWithoutScope).each("context.h", 1, 1);
  finder("scope of rows loaded", damage::kLoadWithoutScope).each("context.h", 1, 1);
  finder("scope of a push", damage::kPlainStore).each("context.cpp", kPeers, kPeers);
  return found;
}

}  // namespace monojit::tests
