// A process that builds kernels for another, so that a build that goes wrong ends no engine.
#include "runtime/compiler/compiler_loader.h"
#include "runtime/workers/worker_serve.h"

int main(int count, char** arguments) {
  return monojit::runtime::serve_builds(count, arguments, monojit::runtime::Compiler::open);
}
