#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/common/family.h"
#include "runtime/compiled_kernel.h"
#include "runtime/hollow_image.h"

/// A family of one field and four arguments of every type, and a compiled kernel of it that no device can really run.
namespace monojit::tests {

struct TinyKey {
  int workgroups = 1;
};

inline constexpr kernels::KeyField<TinyKey> kTinyFields[] = {
    kernels::required_integer<&TinyKey::workgroups>("workgroups", "size of the grid", 1, 1024),
};
inline constexpr auto kTinyPlainFields = kernels::plain_fields(kTinyFields);

inline constexpr kernels::Argument kTinyArguments[] = {
    {"data", kernels::ArgumentType::kPointer, 16, true, "memory"},
    {"count", kernels::ArgumentType::kInt32, 0, false, "elements"},
    {"stride", kernels::ArgumentType::kInt64, 0, false, "bytes"},
    {"scale", kernels::ArgumentType::kFloat32, 0, false, "factor"},
};

inline constexpr kernels::Family kTiny = {
    .name = "tests.tiny",
    .summary = "a kernel of the tests",
    .symbol_stem = "tests_tiny",
    .generator_digest = "0",
    .fields = kTinyPlainFields,
    .arguments = kTinyArguments,
    .launch =
        [](const kernels::BuildKey& key) {
          return kernels::Launch{static_cast<std::uint32_t>(key.value("workgroups")), 64, true};
        },
    .check = [](const kernels::BuildKey&, std::string_view, std::vector<std::string>&) {},
};

inline kernels::BuildKey tiny_key(int workgroups) {
  return kernels::BuildKey::from_values(kTiny, {{"workgroups", workgroups}});
}

/// The record that a correct build of the tiny kernel has: `count` is padded to the next 8 bytes.
inline runtime::KernelRecord tiny_record() {
  runtime::KernelRecord record;
  record.symbol = "tests_tiny";
  record.resources = {.vgpr = 12, .sgpr = 16, .lds_bytes = 1024, .code_bytes = 256};
  record.arguments = {{"data", 0, 8}, {"count", 8, 4}, {"stride", 16, 8}, {"scale", 24, 4}};
  record.kernarg_bytes = 28;
  record.times_ms = {1.5, 20.25, 3.0};
  record.ir_digest = std::string(64, 'a');
  return record;
}

/// A compiled kernel of a family with the tiny kernel's arguments.
inline std::shared_ptr<const runtime::CompiledKernel> hollow_kernel(const kernels::BuildKey& key) {
  constexpr const char* kArch = "gfx950";
  runtime::KernelRecord record = tiny_record();
  record.symbol = key.symbol();
  return std::make_shared<runtime::CompiledKernel>(runtime::CompiledKernel{
      key, kArch, record, std::make_shared<const std::vector<std::byte>>(runtime::hollow_image(kArch, record))});
}

inline std::shared_ptr<const runtime::CompiledKernel> tiny_kernel(int workgroups) {
  return hollow_kernel(tiny_key(workgroups));
}

}  // namespace monojit::tests
