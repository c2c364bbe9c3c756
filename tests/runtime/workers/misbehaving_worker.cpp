// A worker whose builds go wrong in the way that the key's `rows` say (tests/runtime/workers/misbehaviour.h).
#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <llvm/Support/ErrorHandling.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/compiler/compiler_loader.h"
#include "runtime/workers/worker_serve.h"
#include "tests/runtime/workers/misbehaviour.h"
#include "toolchain_id.h"

namespace monojit::tests {
namespace {

void say(std::string_view bytes) { (void)send(STDIN_FILENO, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

void allocate_for_ever() {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  for (std::vector<std::vector<char>> blocks;;) blocks.emplace_back(kBlock, 'x');
}

void misbehave(Misbehaviour way) {
  constexpr std::string_view kHalfFrame("\x10\0\0\0\0\0\0\0half", 12);
  constexpr std::string_view kNonsense("\x02\0\0\0\0\0\0\0\xFF\xFF", 10);
  switch (way) {
    case Misbehaviour::kNone:
      return;
    case Misbehaviour::kAbort:
      std::abort();
    case Misbehaviour::kLlvmGivesUp:
      runtime::Compiler::open();
      llvm::reportFatalUsageError("no such instruction (synthetic)");
    case Misbehaviour::kAllocate:
      allocate_for_ever();
      return;
    case Misbehaviour::kHang:
      for (;;) ::pause();
    case Misbehaviour::kKilled:
      (void)::kill(::getpid(), SIGKILL);
      return;
    case Misbehaviour::kHalfAnAnswer:
      say(kHalfFrame);
      ::_exit(0);
    case Misbehaviour::kNonsense:
      say(kNonsense);
      for (;;) ::pause();
    case Misbehaviour::kRefuse:
      throw std::runtime_error("the compiler says no");
  }
}

class Builder : public runtime::KernelBuilder {
 public:
  std::string toolchain() override { return std::string(kPinnedToolchain); }
  runtime::BuiltKernel build(const kernels::BuildKey& key, std::string_view,
                             const runtime::StageCallback& on_stage) override {
    on_stage("misbehaving");
    misbehave(static_cast<Misbehaviour>(key.value("rows")));
    runtime::KernelRecord record;
    record.symbol = key.symbol();
    return {record, std::vector<std::byte>(100, std::byte{0x5A})};
  }
};

}  // namespace
}  // namespace monojit::tests

int main(int count, char** arguments) {
  return monojit::runtime::serve_builds(count, arguments, [] { return std::make_shared<monojit::tests::Builder>(); });
}
