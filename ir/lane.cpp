#include "ir/lane.h"

#include <functional>

#include <fmt/format.h>

#include "ir/builder.h"

namespace monojit::ir {

namespace {

constexpr Shape kI32 = {Kind::kInt32};

/// Applies `f`, which works on dwords, to each dword of a value.
template <class F>
llvm::Value* by_dwords(llvm::Value* value, Shape shape, const char* operation, Loc loc, F&& f) {
  const unsigned bytes = bytes_of(shape);
  if (shape.kind == Kind::kBool || bytes % 4 != 0) {
    Builder::current(loc).fail(operation, fmt::format("a value of {} bytes: lanes exchange whole dwords", bytes), loc);
  }
  const int dwords = static_cast<int>(bytes / 4);
  if (dwords == 1)
    return emit::cast(emit::Cast::kBitCast, f(emit::cast(emit::Cast::kBitCast, value, kI32, loc)), shape, loc);
  const Shape words = {Kind::kInt32, dwords};
  llvm::Value* from = emit::cast(emit::Cast::kBitCast, value, words, loc);
  llvm::Value* to = emit::undefined(words);
  for (int i = 0; i < dwords; ++i) to = emit::insert(to, f(emit::extract(from, i, loc)), i, loc);
  return emit::cast(emit::Cast::kBitCast, to, shape, loc);
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
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  if (value == nullptr) builder.fail("readfirstlane", "a value is used that was never assigned", loc);
  // Booleans have no registers of their own: they go as an integer.
  if (value->getType()->isIntegerTy(1)) {
    llvm::Value* wide = ir.CreateZExt(value, ir.getInt32Ty());
    return ir.CreateTrunc(readfirstlane(wide, loc), ir.getInt1Ty());
  }
  return ir.CreateCall(builder.declaration(Op::readfirstlane, {value->getType()}), {value});
}

llvm::Value* readlane(llvm::Value* value, llvm::Value* lane, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  if (value == nullptr || lane == nullptr) builder.fail("readlane", "a value is used that was never assigned", loc);
  return ir.CreateCall(builder.declaration(Op::readlane, {value->getType()}), {value, lane});
}

llvm::Value* writelane(llvm::Value* value, llvm::Value* lane, llvm::Value* old, Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  if (value == nullptr || lane == nullptr || old == nullptr)
    builder.fail("writelane", "a value is used that was never assigned", loc);
  return ir.CreateCall(builder.declaration(Op::writelane, {value->getType()}), {value, lane, old});
}

llvm::Value* bpermute(llvm::Value* byte_address, llvm::Value* value, Shape shape, Loc loc) {
  return by_dwords(value, shape, "ds_bpermute", loc,
                   [&](llvm::Value* dword) { return emit::call(Op::ds_bpermute, {byte_address, dword}, loc); });
}

llvm::Value* permute_to(llvm::Value* byte_address, llvm::Value* value, Shape shape, Loc loc) {
  return by_dwords(value, shape, "ds_permute", loc,
                   [&](llvm::Value* dword) { return emit::call(Op::ds_permute, {byte_address, dword}, loc); });
}

llvm::Value* dpp(llvm::Value* old, llvm::Value* value, int control, int row_mask, int bank_mask, bool bound_control,
                 Loc loc) {
  Builder& builder = Builder::current(loc);
  llvm::IRBuilder<>& ir = Builder::at(loc);
  if (old == nullptr || value == nullptr) builder.fail("dpp", "a value is used that was never assigned", loc);
  return ir.CreateCall(
      builder.declaration(Op::dpp, {value->getType()}),
      {old, value, ir.getInt32(control), ir.getInt32(row_mask), ir.getInt32(bank_mask), ir.getInt1(bound_control)});
}

llvm::Value* lane_xor(llvm::Value* value, Shape shape, int distance, Loc loc) {
  check_distance(distance, loc);
  if (!has_swap(distance, loc)) {
    return by_dwords(value, shape, "lane_xor", loc,
                     [&](llvm::Value* dword) { return lane_xor_dword(dword, distance, loc); });
  }
  // A swap of v with itself gives the lower partner's value in the first and the upper one's in the second result.
  const SwappedValues both = permlane_swap(swap_of(distance), value, value, shape, loc);
  const Int32 side = At<Int32>(lane_id(loc), loc) & distance;
  const Bool upper = At<Int32>(side, loc) != 0;
  return emit::select(upper.get(), both.first, both.second, loc);
}

SwappedValues permlane_swap(Op op, llvm::Value* first, llvm::Value* second, Shape shape, Loc loc) {
  const int dwords = static_cast<int>(bytes_of(shape) / 4);
  emit::require(op, loc);
  const Shape words = {Kind::kInt32, dwords};
  llvm::Value* a = emit::cast(emit::Cast::kBitCast, first, words, loc);
  llvm::Value* b = emit::cast(emit::Cast::kBitCast, second, words, loc);
  llvm::Value* out_a = emit::undefined(words);
  llvm::Value* out_b = out_a;
  for (int i = 0; i < dwords; ++i) {
    llvm::Value* x = dwords == 1 ? a : emit::extract(a, i, loc);
    llvm::Value* y = dwords == 1 ? b : emit::extract(b, i, loc);
    llvm::Value* both = emit::call(op, {x, y, emit::flag(false), emit::flag(false)}, loc);
    llvm::Value* new_x = emit::result(both, 0, loc);
    llvm::Value* new_y = emit::result(both, 1, loc);
    out_a = dwords == 1 ? new_x : emit::insert(out_a, new_x, i, loc);
    out_b = dwords == 1 ? new_y : emit::insert(out_b, new_y, i, loc);
  }
  return {emit::cast(emit::Cast::kBitCast, out_a, shape, loc), emit::cast(emit::Cast::kBitCast, out_b, shape, loc)};
}

SwappedValues exchange(llvm::Value* value, Shape shape, int distance, Loc loc) {
  if (has_swap(distance, loc)) return permlane_swap(swap_of(distance), value, value, shape, loc);
  return {value, lane_xor(value, shape, distance, loc)};
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
