// One rank of the test of processes that share device memory: exchanges handles with its parent through standard input
// and output, runs the ring and reports the result.
//
//   ipc_rank RANK RANKS TURNS WAY
//
// WAY: "run"; "brief": a time limit of kBriefSeconds for each turn; "endless": no time limit; "hang": its workgroup
// never runs; or "stall": takes part in everything but the launch. The result of a launch that failed is kFailed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <hip/hip_runtime_api.h>
#include <unistd.h>

#include "runtime/emulator/emulator.h"
#include "tests/emulator/ring.h"

namespace {

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, monojitEmulatorLastFault());
  std::exit(3);
}

void send(const void* bytes, std::size_t count) {
  if (write(STDOUT_FILENO, bytes, count) != static_cast<ssize_t>(count)) std::exit(4);
}

/// The ring that `way` asks for.
monojit::emulator::test::KernelText ring_of(const char* way) {
  using namespace monojit::emulator::test;  // NOLINT(google-build-using-namespace): it is their program
  if (std::strcmp(way, "brief") == 0) return bounded_ring(kBriefSeconds, true);
  return std::strcmp(way, "endless") == 0 ? endless_ring() : bounded_ring();
}

void receive(void* bytes, std::size_t count) {
  for (std::size_t got = 0; got < count;) {
    const ssize_t more = read(STDIN_FILENO, static_cast<char*>(bytes) + got, count - got);
    if (more <= 0) std::exit(5);
    got += static_cast<std::size_t>(more);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const unsigned long rank = std::strtoul(argv[1], nullptr, 10), ranks = std::strtoul(argv[2], nullptr, 10);
  void* mailbox = nullptr;
  check(hipMalloc(&mailbox, 4096), "hipMalloc");
  hipIpcMemHandle_t own;
  check(hipIpcGetMemHandle(&own, mailbox), "hipIpcGetMemHandle");
  send(&own, sizeof own);
  std::vector<hipIpcMemHandle_t> handles(ranks);
  receive(handles.data(), handles.size() * sizeof own);
  void* next = nullptr;
  check(hipIpcOpenMemHandle(&next, handles[(rank + 1) % ranks], hipIpcMemLazyEnablePeerAccess), "hipIpcOpenMemHandle");

  using namespace monojit::emulator::test;  // NOLINT(google-build-using-namespace): it is their program
  const auto object = assemble(ring_of(argv[4]));
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  check(hipModuleLoadData(&module, object.data()), "hipModuleLoadData");
  check(hipModuleGetFunction(&function, module, "ring"), "hipModuleGetFunction");
  if (std::strcmp(argv[4], "stall") == 0) {
    send("L", 1);
    for (;;) pause();
  }
  if (std::strcmp(argv[4], "hang") == 0 && monojitEmulatorSetOption("stall", "0") != 0) return 6;
  std::uint64_t rank_argument = rank, turns = std::strtoul(argv[3], nullptr, 10);
  char* result_address = static_cast<char*>(mailbox) + 256;
  void* arguments[] = {&mailbox, &next, &rank_argument, &turns, &result_address};
  check(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr), "hipModuleLaunchKernel");
  send("L", 1);
  std::uint32_t result = kFailed;
  if (hipDeviceSynchronize() == hipSuccess) {
    check(hipMemcpy(&result, result_address, sizeof result, hipMemcpyDeviceToHost), "hipMemcpy");
  }
  send(&result, sizeof result);
  char go = 0;
  receive(&go, 1);  // the memory stays until all have read
  check(hipIpcCloseMemHandle(next), "hipIpcCloseMemHandle");
  return 0;
}
