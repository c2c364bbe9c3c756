#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <llvm/IR/Module.h>

#include "codegen/isa/listing.h"
#include "codegen/object/code_object.h"
#include "tests/ir/probe.h"

namespace monojit::ir {
namespace {

using test::has_instruction;
using test::lines_with;
using test::Probe;

TEST_CASE("A named cache policy becomes exactly its scope bits") {
  struct Case {
    CachePolicy policy;
    bool sc0, sc1, nt;
  };
  constexpr Case kCases[] = {
      {CachePolicy::kDefault, false, false, false},
      {CachePolicy::kDevice, false, true, false},
      {CachePolicy::kSystem, true, true, false},
      {CachePolicy::kNonTemporal, false, false, true},
  };
  for (const Target& target : targets()) {
    for (const Case& c : kCases) {
      Probe probe(target);
      probe.result(load<Int32>(probe.buffer(), probe.i32(), {.policy = c.policy}));
      store(probe.buffer(), probe.i32(), probe.i32(), {.policy = c.policy});
      const std::string isa = probe.build().stages.isa;
      for (const char* mnemonic : {"buffer_load_dword", "buffer_store_dword"}) {
        INFO(target.arch << " " << mnemonic << " policy " << static_cast<int>(c.policy));
        const auto count = [&](const std::string& bit) { return lines_with(isa, mnemonic + bit).size(); };
        REQUIRE(count("") == 1);
        CHECK(count(" sc0") == c.sc0);
        CHECK(count(" sc1") == c.sc1);
        CHECK(count(" nt") == c.nt);
      }
    }
  }
}

TEST_CASE("A buffer access takes lane, scalar and immediate offsets in one instruction") {
  Probe probe(kTargetGfx950);
  const BufferResource buffer = probe.buffer();
  for (int i = 0; i < 4; ++i) {
    probe.result(load<Vec<Int32, 4>>(buffer, thread_id() * 16, {.scalar_offset = probe.scalar(), .offset = 1024 * i}));
  }
  const std::string isa = probe.build().stages.isa;
  INFO(isa);
  CHECK(lines_with(isa, "buffer_load_dwordx4 offen").size() == 4);
  for (const char* offset : {"offset:1024", "offset:2048", "offset:3072"}) {
    INFO(offset);
    CHECK(lines_with(isa, std::string("buffer_load_dwordx4 ") + offset).size() == 1);
  }
  CHECK(lines_with(isa, "s_mov_b32 0x27000").size() == 1);
}

/// Whether the only buffer load of a loop that waits for a value lies inside of the loop.
bool loads_again(bool repeat) {
  constexpr ArgumentSpec kArguments[] = {{.name = "flag", .alignment = 16, .written = false}, {.name = "out"}};
  Kernel kernel({.name = "polls", .workgroup_size = 64, .arguments = kArguments});
  const BufferResource flag(kernel.argument<Ptr<Int32, Global>>("flag"));
  DoWhile([&] {
    const Int32 seen = load<Int32>(flag, lane_id() * 4, {.policy = CachePolicy::kDevice, .repeat = repeat});
    s_sleep(1);
    return seen != 7;
  });
  store(kernel.argument<Ptr<Int32, Global>>("out") + lane_id(), 1);
  const codegen::Build build = codegen::compile(kernel.finish(), kernel.target());
  const codegen::CodeObject object(build.code_object);
  std::uint64_t load = 0;
  const codegen::Listing listing(object, build.symbol);
  for (const codegen::Instruction& instruction : listing.instructions()) {
    if (instruction.mnemonic.starts_with("buffer_load")) load = instruction.address;
    if (instruction.target && *instruction.target <= load && load < instruction.address) return true;
  }
  return false;
}

TEST_CASE("A repeated load stays in its loop even from memory that is called constant; another one may leave it") {
  CHECK(loads_again(true));
  CHECK_FALSE(loads_again(false));
}

TEST_CASE("Overlapping members of an LDS layout share their place and the largest counts") {
  const Kernel kernel({.name = "layout", .workgroup_size = 64});
  LdsLayout lds;
  const auto rows = lds.array<UInt8>("rows", 100);
  LdsArray<Float32> partials;
  LdsArray<BFloat16> queries;
  LdsArray<Int64> stamps;
  lds.overlap(
      [&] {
        partials = lds.array<Float32>("partials", 256);
        stamps = lds.array<Int64>("stamps", 2);
      },
      [&] { queries = lds.array<BFloat16>("queries", 1024); });
  const auto last = lds.array<Int32>("last", 4);
  CHECK(rows.offset() == 0);
  CHECK(partials.offset() == 112);
  CHECK(stamps.offset() == 112 + 1024);
  CHECK(queries.offset() == 112);
  CHECK(last.offset() == 112 + 2048);
  CHECK(queries.bytes() == 2048);
  CHECK(kernel.lds_bytes() == 112 + 2048 + 16);
}

TEST_CASE("LDS addresses become immediate offsets") {
  Probe probe(kTargetGfx950);
  const auto second = LdsLayout().array<Float32>("second", 64);
  probe.result(load(second + lane_id()));
  const std::string isa = probe.build().stages.isa;
  CHECK(has_instruction(isa, "ds_read_b32 offset:" + std::to_string(second.offset())));
}

TEST_CASE("Loads are as wide as their alignment allows") {
  Probe probe(kTargetGfx950);
  const auto bytes = pointer_cast<UInt8>(probe.memory());
  probe.result(load<16>(bytes + lane_id() * 16));
  CHECK(has_instruction(probe.build().stages.isa, "global_load_dwordx4"));
  Probe narrow(kTargetGfx950);
  const auto words = pointer_cast<Int32>(narrow.lds().pointer());
  narrow.result(load<4>(words + lane_id(), {.alignment = 4}));
  CHECK_FALSE(has_instruction(narrow.build().stages.isa, "ds_read_b128"));
}

}  // namespace
}  // namespace monojit::ir
