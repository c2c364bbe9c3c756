#include "tests/ir/recipes.h"

namespace monojit::ir::test {

namespace {

using enum AtomicOp;

template <class T>
Ptr<T, Global> place(Probe& p) {
  return pointer_cast<T>(p.memory()) + p.i32();
}
template <class T>
Ptr<T, Local> lds_place(Probe& p) {
  return pointer_cast<T>(p.lds().pointer()) + (p.i32() & 63);
}

// A load's result is stored, a store's value was loaded: through the results and operands of the probe, which are 4
// bytes wide where the form under test is another one.
template <int N, class T>
void global_load(Probe& p) {
  p.result(bitcast<Vec<Int32, N* static_cast<int>(bytes_of(detail::kShape<T>)) / 4>>(load<N>(place<T>(p))));
}
template <AtomicOp Operation>
void rmw(Probe& p) {
  p.result(atomic<Operation>(place<Int32>(p), p.i32(), Scope::kDevice));
}

constexpr Recipe kRecipes[] = {
    {Op::make_buffer, [](Probe& p) { p.result(load<Int32>(p.buffer(), p.i32())); }},
    {Op::buffer_load_b8, [](Probe& p) { p.result(zero_extend<Int32>(load<UInt8>(p.buffer(), p.i32()))); }},
    {Op::buffer_load_b16, [](Probe& p) { p.result(zero_extend<Int32>(load<Int16>(p.buffer(), p.i32()))); }},
    {Op::buffer_load_b32, [](Probe& p) { p.result(load<Float32>(p.buffer(), p.i32())); }},
    {Op::buffer_load_b64, [](Probe& p) { p.result(load<Vec<BFloat16, 4>>(p.buffer(), p.i32())); }},
    {Op::buffer_load_b96, [](Probe& p) { p.result(load<Vec<Int32, 3>>(p.buffer(), p.i32())); }},
    {Op::buffer_load_b128, [](Probe& p) { p.result(load<Vec<UInt8, 16>>(p.buffer(), p.i32())); }},
    {Op::buffer_poll, [](Probe& p) { p.result(load<Int32>(p.buffer(), p.i32(), {.repeat = true})); }},
    {Op::buffer_store_b8, [](Probe& p) { store(p.buffer(), p.i32(), truncate<Int8>(p.i32())); }},
    {Op::buffer_store_b16, [](Probe& p) { store(p.buffer(), p.i32(), p.operand<BFloat16>()); }},
    {Op::buffer_store_b32, [](Probe& p) { store(p.buffer(), p.i32(), p.f32()); }},
    {Op::buffer_store_b64, [](Probe& p) { store(p.buffer(), p.i32(), p.operand<Vec<Int32, 2>>()); }},
    {Op::buffer_store_b96, [](Probe& p) { store(p.buffer(), p.i32(), p.operand<Vec<Float32, 3>>()); }},
    {Op::buffer_store_b128, [](Probe& p) { store(p.buffer(), p.i32(), p.operand<Vec<BFloat16, 8>>()); }},
    {Op::buffer_load_lds_b8, [](Probe& p) { load_to_lds<1>(p.buffer(), p.i32(), p.lds().pointer()); }},
    {Op::buffer_load_lds_b16, [](Probe& p) { load_to_lds<2>(p.buffer(), p.i32(), p.lds().pointer()); }},
    {Op::buffer_load_lds_b32, [](Probe& p) { load_to_lds<4>(p.buffer(), p.i32(), p.lds().pointer()); }},
    {Op::buffer_load_lds_b96, [](Probe& p) { load_to_lds<12>(p.buffer(), p.i32(), p.lds().pointer()); }},
    {Op::buffer_load_lds_b128, [](Probe& p) { load_to_lds<16>(p.buffer(), p.i32(), p.lds().pointer()); }},
    {Op::global_load_lds_b32, [](Probe& p) { load_to_lds<4>(place<Int32>(p), p.lds().pointer()); }},
    {Op::global_load_lds_b96, [](Probe& p) { load_to_lds<12>(place<Int32>(p), p.lds().pointer()); }},
    {Op::global_load_lds_b128, [](Probe& p) { load_to_lds<16>(place<Int32>(p), p.lds().pointer()); }},
    {Op::buffer_atomic_add_i32, [](Probe& p) { buffer_atomic_add(p.buffer(), p.i32(), p.i32()); }},
    {Op::buffer_atomic_add_f32, [](Probe& p) { buffer_atomic_add(p.buffer(), p.i32(), p.f32()); }},
    {Op::buffer_atomic_pk_add_bf16,
     [](Probe& p) { buffer_atomic_add(p.buffer(), p.i32(), p.operand<Vec<BFloat16, 2>>()); }},
    {Op::ds_read_tr4, [](Probe& p) { p.result(load_transposed<4>(lds_place<Int32>(p))); }},
    {Op::ds_read_tr6, [](Probe& p) { p.result(load_transposed<6>(lds_place<Int32>(p))); }},
    {Op::ds_read_tr8, [](Probe& p) { p.result(load_transposed<8>(lds_place<Int32>(p))); }},
    {Op::ds_read_tr16, [](Probe& p) { p.result(load_transposed<16>(lds_place<Int32>(p))); }},

    {Op::global_load_b8, [](Probe& p) { p.result(zero_extend<Int32>(load(place<UInt8>(p)))); }},
    {Op::global_load_b16, [](Probe& p) { p.result(zero_extend<Int32>(load(place<Int16>(p)))); }},
    {Op::global_load_b32, [](Probe& p) { p.result(load(place<Int32>(p))); }},
    {Op::global_load_b64, global_load<2, Int32>},
    {Op::global_load_b128, global_load<8, BFloat16>},
    {Op::global_store_b8, [](Probe& p) { store(place<Int8>(p), truncate<Int8>(p.i32())); }},
    {Op::global_store_b16, [](Probe& p) { store(place<Int16>(p), truncate<Int16>(p.i32())); }},
    {Op::global_store_b32, [](Probe& p) { store(place<Float32>(p), p.f32()); }},
    {Op::global_store_b64, [](Probe& p) { store(place<Int32>(p), p.operand<Vec<Int32, 2>>()); }},
    {Op::global_store_b128, [](Probe& p) { store(place<Float32>(p), p.operand<Vec<Float32, 4>>()); }},
    {Op::lds_load_b8, [](Probe& p) { p.result(zero_extend<Int32>(load(lds_place<UInt8>(p)))); }},
    {Op::lds_load_b16, [](Probe& p) { p.result(zero_extend<Int32>(load(lds_place<Int16>(p)))); }},
    {Op::lds_load_b32, [](Probe& p) { p.result(load(lds_place<Float32>(p))); }},
    {Op::lds_load_b64, [](Probe& p) { p.result(load(lds_place<Int64>(p))); }},
    {Op::lds_load_b128, [](Probe& p) { p.result(load<4>(lds_place<Int32>(p))); }},
    {Op::lds_store_b8, [](Probe& p) { store(lds_place<Int8>(p), truncate<Int8>(p.i32())); }},
    {Op::lds_store_b16, [](Probe& p) { store(lds_place<BFloat16>(p), p.operand<BFloat16>()); }},
    {Op::lds_store_b32, [](Probe& p) { store(lds_place<Int32>(p), p.i32()); }},
    {Op::lds_store_b64, [](Probe& p) { store(lds_place<Int64>(p), p.operand<Int64>()); }},
    {Op::lds_store_b128, [](Probe& p) { store(lds_place<Int32>(p), p.operand<Vec<Int32, 4>>()); }},
    {Op::flat_load_b32, [](Probe& p) { p.result(load(pointer_from_address<Int32, Flat>(p.operand<Int64>()))); }},
    {Op::flat_store_b32, [](Probe& p) { store(pointer_from_address<Int32, Flat>(p.operand<Int64>()), p.i32()); }},
    {Op::global_load_nontemporal, [](Probe& p) { p.result(load(place<Int32>(p), {.nontemporal = true})); }},
    {Op::global_store_nontemporal, [](Probe& p) { store(place<Int32>(p), p.i32(), {.nontemporal = true}); }},

    {Op::atomic_load_device, [](Probe& p) { p.result(atomic_load(place<Int32>(p), Scope::kDevice)); }},
    {Op::atomic_load_system, [](Probe& p) { p.result(atomic_load(place<Int32>(p), Scope::kSystem)); }},
    {Op::atomic_store_device, [](Probe& p) { atomic_store(place<Int32>(p), p.i32(), Scope::kDevice); }},
    {Op::atomic_store_system, [](Probe& p) { atomic_store(place<Int32>(p), p.i32(), Scope::kSystem); }},
    {Op::atomic_load_b64, [](Probe& p) { p.result(atomic_load(place<Int64>(p), Scope::kDevice)); }},
    {Op::atomic_add_i32, rmw<kAdd>},
    {Op::atomic_sub_i32, rmw<kSub>},
    {Op::atomic_exchange_i32, rmw<kExchange>},
    {Op::atomic_and_i32, rmw<kAnd>},
    {Op::atomic_or_i32, rmw<kOr>},
    {Op::atomic_xor_i32, rmw<kXor>},
    {Op::atomic_min_i32, rmw<kMin>},
    {Op::atomic_max_i32, rmw<kMax>},
    {Op::atomic_umin_i32, rmw<kUMin>},
    {Op::atomic_umax_i32, rmw<kUMax>},
    {Op::atomic_add_i64, [](Probe& p) { p.result(atomic_add(place<Int64>(p), p.operand<Int64>(), Scope::kDevice)); }},
    {Op::atomic_add_f32, [](Probe& p) { p.result(atomic_add(place<Float32>(p), p.f32(), Scope::kDevice)); }},
    {Op::compare_exchange_i32,
     [](Probe& p) { p.result(compare_exchange(place<Int32>(p), p.i32(), p.i32(), Scope::kDevice)); }},
    {Op::compare_exchange_i64,
     [](Probe& p) {
       p.result(compare_exchange(place<Int64>(p), p.operand<Int64>(), p.operand<Int64>(), Scope::kDevice));
     }},
    {Op::atomic_add_lds, [](Probe& p) { p.result(atomic_add(lds_place<Int32>(p), p.i32(), Scope::kWorkgroup)); }},
};

}  // namespace

std::span<const Recipe> memory_recipes() { return kRecipes; }

}  // namespace monojit::ir::test
