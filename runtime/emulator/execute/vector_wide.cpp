// VOP2, VOP3: integers of 64 bits.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// By bits, as in vector_moves.cpp: a comparison would not become vector code.
MONOJIT_EMULATOR_INLINE bool carries(u64 a, u64 b) { return static_cast<i64>((a & b) | ((a | b) & ~(a + b))) < 0; }

MONOJIT_EMULATOR_INLINE u64 product(u32 a, u32 b) { return u64{a} * b; }
MONOJIT_EMULATOR_INLINE u64 product(i32 a, i32 b) { return static_cast<u64>(i64{a} * b); }

constexpr Entry kEntries[] = {
    vector<[](u32 a, u64 b) { return b << (a & 63); }>("v_lshlrev_b64"),
    vector<[](u32 a, u64 b) { return b >> (a & 63); }>("v_lshrrev_b64"),
    vector<[](u32 a, i64 b) { return b >> (a & 63); }>("v_ashrrev_i64"),
    vector<[](u64 a, u32 b, u64 c) { return (a << ((b & 7) > 4 ? 0 : b & 7)) + c; }>("v_lshl_add_u64"),
    vector<[](u32 a, u32 b, u64 c) { return product(a, b) + c; },
           [](u32 a, u32 b, u64 c) { return carries(product(a, b), c); }>("v_mad_u64_u32"),
    vector<[](i32 a, i32 b, u64 c) { return product(a, b) + c; },
           [](i32 a, i32 b, u64 c) { return carries(product(a, b), c); }>("v_mad_i64_i32"),
};

}  // namespace

std::span<const Entry> vector_wide_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
