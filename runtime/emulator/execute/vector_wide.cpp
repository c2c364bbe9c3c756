// VOP2, VOP3: integers of 64 bits.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

using WideCarry = WithMask<u64>;

constexpr Entry kEntries[] = {
    vector<[](u32 a, u64 b) { return b << (a & 63); }>("v_lshlrev_b64"),
    vector<[](u32 a, u64 b) { return b >> (a & 63); }>("v_lshrrev_b64"),
    vector<[](u32 a, i64 b) { return b >> (a & 63); }>("v_ashrrev_i64"),
    vector<[](u64 a, u32 b, u64 c) { return (a << (b & 63)) + c; }>("v_lshl_add_u64"),
    vector<[](u32 a, u32 b, u64 c) {
      const u64 sum = u64{a} * b + c;
      return WideCarry{sum, sum < c};
    }>("v_mad_u64_u32"),
    vector<[](i32 a, i32 b, u64 c) {
      const u64 product = static_cast<u64>(i64{a} * b);
      const u64 sum = product + c;
      // Carry out of bit 63 of the signed addition: the operands' signs and the result's disagree.
      const u64 overflow = (product & c) | ((product | c) & ~sum);
      return WideCarry{sum, static_cast<i64>(overflow) < 0};
    }>("v_mad_i64_i32"),
};

}  // namespace

std::span<const Entry> vector_wide_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
