#include "ir/lane.h"

#include <fmt/format.h>

#include "ir/builder.h"

namespace monojit::ir {

namespace {

constexpr Shape kI32 = {Kind::kInt32};

using Dwords = llvm::SmallVector<llvm::Value*, 8>;

llvm::Type* type_of(const llvm::Value* value, const char* operation, Loc loc) {
  if (value == nullptr) Builder::current(loc).fail(operation, "a value is used that was never assigned", loc);
  return value->getType();
}

/// The 32-bit pieces of a value; a smaller one is extended to 32 bits.
Dwords split(llvm::Value* value, const char* operation, Loc loc) {
  const Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  const auto bits = static_cast<unsigned>(type_of(value, operation, loc)->getPrimitiveSizeInBits().getFixedValue());
  if (bits == 32) return {ir.CreateBitCast(value, ir.getInt32Ty())};
  if (bits != 0 && bits < 32) return {ir.CreateZExt(ir.CreateBitCast(value, ir.getIntNTy(bits)), ir.getInt32Ty())};
  if (bits == 0 || bits % 32 != 0) {
    builder.fail(operation, fmt::format("a value of {} bits: lanes exchange up to 32 or whole dwords", bits), loc);
  }
  llvm::Value* words = ir.CreateBitCast(value, llvm::FixedVectorType::get(ir.getInt32Ty(), bits / 32));
  Dwords dwords;
  for (unsigned i = 0; i < bits / 32; ++i) dwords.push_back(ir.CreateExtractElement(words, i));
  return dwords;
}

llvm::Value* join(const Dwords& dwords, llvm::Type* type, Loc loc) {
  llvm::IRBuilder<>& ir = Builder::at(loc);
  const unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  if (bits == 32) return ir.CreateBitCast(dwords[0], type);
  if (bits < 32) return ir.CreateBitCast(ir.CreateTrunc(dwords[0], ir.getIntNTy(bits)), type);
  llvm::Value* words = llvm::PoisonValue::get(llvm::FixedVectorType::get(ir.getInt32Ty(), bits / 32));
  for (unsigned i = 0; i < bits / 32; ++i) words = ir.CreateInsertElement(words, dwords[i], i);
  return ir.CreateBitCast(words, type);
}

/// Applies `f` to each dword of a value.
template <class F>
llvm::Value* by_dwords(llvm::Value* value, const char* operation, Loc loc, F&& f) {
  llvm::Type* type = type_of(value, operation, loc);
  Dwords dwords = split(value, operation, loc);
  for (llvm::Value*& dword : dwords) dword = f(dword);
  return join(dwords, type, loc);
}

/// 4 * (lane xor distance), computed once a kernel.
llvm::Value* lane_xor_address(int distance, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::Value*& known = builder.once.lane_xor_address[static_cast<std::size_t>(distance)];
  if (known == nullptr) {
    llvm::Value* lane = lane_id(loc).get();
    known = builder.in_entry(
        [&] { return builder.ir().CreateShl(builder.ir().CreateXor(lane, static_cast<std::uint64_t>(distance)), 2); });
  }
  return known;
}

llvm::Value* dpp_dword(llvm::Value* old, llvm::Value* value, int control, int row_mask, int bank_mask, bool bound,
                       Loc loc) {
  return emit::call(
      Op::dpp, {kI32},
      {old, value, emit::immediate(control), emit::immediate(row_mask), emit::immediate(bank_mask), emit::flag(bound)},
      loc);
}

llvm::Value* lane_xor_dword(llvm::Value* value, int distance, Loc loc) {
  constexpr int kAll = 0xF;
  switch (distance) {
    case 1:
      return dpp_dword(value, value, DppControl::quad_perm(1, 0, 3, 2).value, kAll, kAll, true, loc);
    case 2:
      return dpp_dword(value, value, DppControl::quad_perm(2, 3, 0, 1).value, kAll, kAll, true, loc);
    case 4: {
      // Lanes 4..7 and 12..15 of a row read four lanes below, the others four above.
      llvm::Value* upper = dpp_dword(value, value, DppControl::row_shr(4).value, kAll, 0xA, false, loc);
      return dpp_dword(upper, value, DppControl::row_shl(4).value, kAll, 0x5, false, loc);
    }
    case 8:
      return dpp_dword(value, value, DppControl::row_ror(8).value, kAll, kAll, true, loc);
    default:
      return emit::call(Op::ds_bpermute, {lane_xor_address(distance, loc), value}, loc);
  }
}

void check_distance(int distance, Loc loc) {
  if (distance < 1 || distance > 32 || (distance & (distance - 1)) != 0) {
    Builder::current(loc).fail("lane_xor", fmt::format("distance {}: it has to be 1, 2, 4, 8, 16 or 32", distance),
                               loc);
  }
}

bool has_swap(int distance, Loc loc) {
  return distance >= 16 && info(Op::permlane32_swap).available(Builder::current(loc).target().chip);
}

Op swap_of(int distance) { return distance == 32 ? Op::permlane32_swap : Op::permlane16_swap; }

}  // namespace

namespace detail {

llvm::Value* readfirstlane(llvm::Value* value, Loc loc) {
  llvm::Type* type = type_of(value, "readfirstlane", loc);
  if (type->isPointerTy()) {
    // Whole, so that LLVM still knows what it points into.
    return Builder::at(loc).CreateCall(Builder::current(loc).declaration(Op::readfirstlane, {type}), {value});
  }
  return by_dwords(value, "readfirstlane", loc,
                   [&](llvm::Value* dword) { return emit::call(Op::readfirstlane, {kI32}, {dword}, loc); });
}

llvm::Value* readlane(llvm::Value* value, llvm::Value* lane, Loc loc) {
  return by_dwords(value, "readlane", loc,
                   [&](llvm::Value* dword) { return emit::call(Op::readlane, {kI32}, {dword, lane}, loc); });
}

llvm::Value* writelane(llvm::Value* value, llvm::Value* lane, llvm::Value* old, Loc loc) {
  const Dwords sources = split(value, "writelane", loc);
  Dwords dwords = split(old, "writelane", loc);
  for (std::size_t i = 0; i < dwords.size(); ++i) {
    dwords[i] = emit::call(Op::writelane, {kI32}, {sources[i], lane, dwords[i]}, loc);
  }
  return join(dwords, old->getType(), loc);
}

llvm::Value* bpermute(llvm::Value* byte_address, llvm::Value* value, Loc loc) {
  return by_dwords(value, "ds_bpermute", loc,
                   [&](llvm::Value* dword) { return emit::call(Op::ds_bpermute, {byte_address, dword}, loc); });
}

llvm::Value* permute_to(llvm::Value* byte_address, llvm::Value* value, Loc loc) {
  return by_dwords(value, "ds_permute", loc,
                   [&](llvm::Value* dword) { return emit::call(Op::ds_permute, {byte_address, dword}, loc); });
}

llvm::Value* dpp(llvm::Value* old, llvm::Value* value, int control, int row_mask, int bank_mask, Loc loc) {
  const Dwords sources = split(value, "dpp", loc);
  Dwords dwords = split(old, "dpp", loc);
  for (std::size_t i = 0; i < dwords.size(); ++i) {
    dwords[i] = dpp_dword(dwords[i], sources[i], control, row_mask, bank_mask, false, loc);
  }
  return join(dwords, old->getType(), loc);
}

llvm::Value* lane_xor(llvm::Value* value, int distance, Loc loc) {
  check_distance(distance, loc);
  if (!has_swap(distance, loc)) {
    return by_dwords(value, "lane_xor", loc, [&](llvm::Value* dword) { return lane_xor_dword(dword, distance, loc); });
  }
  // A swap of v with itself gives the lower partner's value in the first and the upper one's in the second result.
  const SwappedValues both = permlane_swap(swap_of(distance), value, value, loc);
  const Int32 side = At<Int32>(lane_id(loc), loc) & distance;
  const Bool upper = At<Int32>(side, loc) != 0;
  return emit::select(upper.get(), both.first, both.second, loc);
}

SwappedValues permlane_swap(Op op, llvm::Value* first, llvm::Value* second, Loc loc) {
  emit::require(op, loc);
  Dwords a = split(first, "permlane_swap", loc);
  Dwords b = split(second, "permlane_swap", loc);
  for (std::size_t i = 0; i < a.size(); ++i) {
    llvm::Value* both = emit::call(op, {a[i], b[i], emit::flag(false), emit::flag(false)}, loc);
    a[i] = emit::result(both, 0, loc);
    b[i] = emit::result(both, 1, loc);
  }
  return {join(a, first->getType(), loc), join(b, second->getType(), loc)};
}

SwappedValues exchange(llvm::Value* value, int distance, bool repeats, Loc loc) {
  check_distance(distance, loc);
  if (has_swap(distance, loc)) return permlane_swap(swap_of(distance), value, value, loc);
  if (distance != 4 || !repeats) return {value, lane_xor(value, distance, loc)};
  // Four lanes below, around the row of 16: lane xor 4, or the one 8 lanes from it.
  constexpr int kAll = 0xF;
  llvm::Value* other = by_dwords(value, "reduce", loc, [&](llvm::Value* dword) {
    return dpp_dword(dword, dword, DppControl::row_ror(4).value, kAll, kAll, true, loc);
  });
  return {value, other};
}

SwappedValues pair_rows(llvm::Value* first, llvm::Value* second, Loc loc) {
  constexpr int kRow = 16;
  if (has_swap(kRow, loc)) return permlane_swap(Op::permlane16_swap, first, second, loc);
  const Int32 row = At<Int32>(lane_id(loc), loc) & kRow;
  const Bool odd = At<Int32>(row, loc) != 0;
  const auto choose = [&](llvm::Value* even_row, llvm::Value* odd_row) {
    return emit::select(odd.get(), odd_row, even_row, loc);
  };
  return {choose(first, second), choose(lane_xor(first, kRow, loc), lane_xor(second, kRow, loc))};
}

}  // namespace detail

Uniform<Int64> ballot(const Bool& condition, Loc loc) {
  return Uniform<Int64>(Raw{emit::call(Op::ballot, {{Kind::kInt64}}, {condition.get()}, loc)});
}

Uniform<Bool> any(const Bool& condition, Loc loc) { return At<Uniform<Int64>>(ballot(condition, loc), loc) != 0; }

Uniform<Bool> all(const Bool& condition, Loc loc) {
  const Bool fails(Raw{emit::invert(condition.get(), loc)});
  return At<Uniform<Int64>>(ballot(fails, loc), loc) == 0;
}

Int32 mbcnt(const Uniform<Int64>& mask, const Int32& base, Loc loc) {
  llvm::Value* low = emit::cast(emit::Cast::kTrunc, mask.get(), kI32, loc);
  llvm::Value* shifted =
      emit::binary(emit::Binary::kLShr, mask.get(), emit::constant({Kind::kInt64}, std::int64_t{32}, loc), loc);
  llvm::Value* high = emit::cast(emit::Cast::kTrunc, shifted, kI32, loc);
  llvm::Value* count = emit::call(Op::mbcnt_lo, {low, base.get()}, loc);
  return Int32(Raw{emit::call(Op::mbcnt_hi, {high, count}, loc)});
}

}  // namespace monojit::ir
