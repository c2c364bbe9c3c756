// A kernel made with the DSL faults on the emulator: the message leads to the line of the DSL call.
#include <source_location>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include "codegen/build.h"
#include "ir/dsl.h"
#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr ir::ArgumentSpec kArguments[] = {{.name = "values", .alignment = 4}};

TEST_CASE("a fault names the line of the DSL call that stored") {
  ir::Kernel kernel({.name = "stores_behind_the_end", .workgroup_size = 64, .arguments = kArguments});
  const auto values = kernel.argument<ir::Ptr<ir::Int32, ir::Global>>("values");
  const auto here = std::source_location::current();
  store(values + ir::thread_id(), ir::thread_id());
  const codegen::Build build = codegen::compile(kernel.finish(), ir::kTargetGfx950);

  Device device;
  const auto memory = device.allocate<std::uint32_t>(10);
  std::string text;
  try {
    device.run_object(build.code_object, build.symbol, {}, {memory.address()});
  } catch (const Failure& failure) {
    text = failure.what();
  }
  CHECK_THAT(text, ContainsSubstring("by lane 10: 0 bytes behind the end of allocation"));
  CHECK_THAT(text, ContainsSubstring(fmt::format("[{}:{}]", here.file_name(), here.line() + 1)));
}

}  // namespace
}  // namespace monojit::emulator::test
