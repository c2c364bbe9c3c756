#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "kernels/emitters.h"

namespace {

using namespace monojit;
using kernels::BuildKey;
using Values = std::map<std::string, std::int64_t, std::less<>>;

const std::vector<std::string> kBaseKeys = {
    "minimax_m3.k1{tokens=3,index_heads=4,index_own=1,signal=1}",
    "kimi_k3.k2{tokens=2,nblocks=3,fault_rank=1,fault_epoch=2,fault_layer=3,fault_ticks=4}",
    "example.row_norm{rows=4,hidden=1024}"};

Values values_of(const BuildKey& key) {
  Values values;
  for (std::size_t i = 0; i < key.values().size(); ++i) values.emplace(key.family().fields[i].name, key.values()[i]);
  return values;
}

// The emitted IR without its only mention of the key: the symbol.
std::string ir_of(const BuildKey& key, std::string_view arch) {
  const auto kernel = kernels::emit(key, *ir::find_target(arch));
  const auto module = kernel->finish();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  const std::string symbol = key.symbol();
  for (std::size_t at = text.find(symbol); at != std::string::npos; at = text.find(symbol))
    text.replace(at, symbol.size(), "SYMBOL");
  return text;
}

// Another legal value of the field, or none where the range holds a single one.
std::vector<std::int64_t> other_values(const kernels::Field& field, std::int64_t value) {
  switch (field.kind) {
    case kernels::FieldKind::kFloat32:
      return {value + 8};  // a neighbour may round to the same product with a constant
    case kernels::FieldKind::kChoice: {
      std::vector<std::int64_t> others;
      for (const kernels::Choice& choice : field.choices) {
        if (choice.value != value) others.push_back(choice.value);
      }
      return others;
    }
    case kernels::FieldKind::kInteger:
      break;
  }
  if (field.name == "hidden") return {value + 512};
  if (value + 1 <= field.last) return {value + 1};
  return value > field.first ? std::vector{value - 1} : std::vector<std::int64_t>{};
}

}  // namespace

TEST_CASE("Given one key, emitting it twice gives the same IR") {
  for (const std::string& text : kBaseKeys) {
    const BuildKey key = BuildKey::parse(text);
    CHECK(ir_of(key, "gfx950") == ir_of(key, "gfx950"));
  }
}

TEST_CASE("Given a key, when any one field changes, then bytes, symbol and IR change together") {
  for (const std::string& text : kBaseKeys) {
    const BuildKey base = BuildKey::parse(text);
    const std::string base_ir = ir_of(base, "gfx950");
    for (const kernels::Field& field : base.family().fields) {
      for (const std::int64_t other : other_values(field, base.value(field.name))) {
        Values values = values_of(base);
        values[std::string(field.name)] = other;
        const BuildKey changed = BuildKey::from_values(base.family(), values);
        INFO(changed.text());
        CHECK(changed.bytes() != base.bytes());
        CHECK(changed.symbol() != base.symbol());
        CHECK(ir_of(changed, "gfx950") != base_ir);
      }
    }
  }
}

TEST_CASE("Given one key, each chip gets code of its own") {
  for (const std::string& text : kBaseKeys) {
    const BuildKey key = BuildKey::parse(text);
    if (key.family().name == "kimi_k3.k2") continue;  // has matrix instructions of gfx950 alone
    CHECK(ir_of(key, "gfx942") != ir_of(key, "gfx950"));
  }
}
