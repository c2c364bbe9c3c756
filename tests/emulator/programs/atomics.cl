// Atomics: every operation and width in global memory and LDS, with and without the old value, and loops over exchange.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define RELAXED memory_order_relaxed, memory_scope_device

// Results: words 0..11 of 32 bits. Old values of the additions: olds.
kernel void words(global atomic_uint* results, global uint* olds, global const uint* values) {
  const uint item = get_global_id(0), value = values[item];
  olds[item] = atomic_fetch_add_explicit(&results[0], 1, RELAXED);
  atomic_fetch_sub_explicit(&results[1], value, RELAXED);
  atomic_fetch_min_explicit(&results[2], value, RELAXED);
  atomic_fetch_max_explicit(&results[3], value, RELAXED);
  atomic_fetch_min_explicit((global atomic_int*)&results[4], (int)value, RELAXED);
  atomic_fetch_max_explicit((global atomic_int*)&results[5], (int)value, RELAXED);
  atomic_fetch_and_explicit(&results[6], value | 0xff, RELAXED);
  atomic_fetch_or_explicit(&results[7], value & 0x1010101, RELAXED);
  atomic_fetch_xor_explicit(&results[8], value, RELAXED);
  __builtin_amdgcn_atomic_inc32((global uint*)&results[9], 9, __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_dec32((global uint*)&results[10], 9, __ATOMIC_RELAXED, "agent");
  __opencl_atomic_fetch_add((global atomic_float*)&results[11], (float)(value & 15), RELAXED);
}

kernel void long_words(global atomic_ulong* results, global const ulong* values) {
  const ulong value = values[get_global_id(0)];
  atomic_fetch_add_explicit(&results[0], value, RELAXED);
  atomic_fetch_sub_explicit(&results[1], value, RELAXED);
  atomic_fetch_min_explicit(&results[2], value, RELAXED);
  atomic_fetch_max_explicit(&results[3], value, RELAXED);
  atomic_fetch_min_explicit((global atomic_long*)&results[4], (long)value, RELAXED);
  atomic_fetch_max_explicit((global atomic_long*)&results[5], (long)value, RELAXED);
  atomic_fetch_and_explicit(&results[6], value | 0xffff, RELAXED);
  atomic_fetch_or_explicit(&results[7], value & 0x100010001, RELAXED);
  atomic_fetch_xor_explicit(&results[8], value, RELAXED);
  __opencl_atomic_fetch_add((global atomic_double*)&results[9], (double)(value & 0xfff), RELAXED);
  __opencl_atomic_fetch_min((global atomic_double*)&results[10], (double)(value >> 20), RELAXED);
  __opencl_atomic_fetch_max((global atomic_double*)&results[11], (double)(value >> 20), RELAXED);
}

// The same in LDS, whose words go out at the end.
kernel void lds_words(global uint* results, global ulong* long_results, global const uint* values) {
  local atomic_uint words[8];
  local atomic_ulong long_words[6];
  const uint item = get_local_id(0), value = values[item];
  if (item < 8) atomic_init(&words[item], item == 1 || item == 5 ? ~0u : 0);
  if (item < 6) atomic_init(&long_words[item], item == 1 ? ~0ul : 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_fetch_add_explicit(&words[0], value, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_min_explicit(&words[1], value, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_max_explicit((local atomic_int*)&words[2], (int)value, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_or_explicit(&words[3], 1u << (value & 31), memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_add((local atomic_float*)&words[4], (float)(value & 7), memory_order_relaxed,
                            memory_scope_work_group);
  atomic_fetch_and_explicit(&words[5], value | 0xf0f, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_xor_explicit(&words[6], value, memory_order_relaxed, memory_scope_work_group);
  const uint old = atomic_fetch_sub_explicit(&words[7], 3, memory_order_relaxed, memory_scope_work_group);
  const ulong wide = (ulong)value << 20 | value;
  atomic_fetch_add_explicit(&long_words[0], wide, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_min_explicit(&long_words[1], wide, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_max_explicit(&long_words[2], wide, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_xor_explicit(&long_words[3], wide, memory_order_relaxed, memory_scope_work_group);
  __opencl_atomic_fetch_add((local atomic_double*)&long_words[4], (double)(value & 255), memory_order_relaxed,
                            memory_scope_work_group);
  atomic_fetch_add_explicit(&long_words[5], (ulong) - (long)(int)old, memory_order_relaxed, memory_scope_work_group);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < 8) results[item] = atomic_load(&words[item]);
  if (item < 6) long_results[item] = atomic_load(&long_words[item]);
}

// A maximum of doubles by their absolute value, a product modulo a prime, and a list's head: compare and exchange.
kernel void exchange_loops(global atomic_ulong* results, global atomic_uint* head, global uint* next,
                           global const double* values) {
  const uint item = get_global_id(0);
  ulong seen = atomic_load_explicit(&results[0], RELAXED);
  while (fabs(as_double(seen)) < fabs(values[item])) {
    if (atomic_compare_exchange_strong_explicit(&results[0], &seen, as_ulong(values[item]), memory_order_relaxed,
                                                memory_order_relaxed, memory_scope_device))
      break;
  }
  seen = atomic_load_explicit(&results[1], RELAXED);
  while (!atomic_compare_exchange_weak_explicit(&results[1], &seen, seen * (item + 2) % 1000000007ul,
                                                memory_order_relaxed, memory_order_relaxed, memory_scope_device)) {
  }
  next[item] = atomic_exchange_explicit(head, item, RELAXED);
}

// Counts of byte values: in LDS, then added to global memory.
__attribute__((reqd_work_group_size(128, 1, 1))) kernel void histogram(global const uchar4* in, global uint* counts,
                                                                       uint length) {
  local uint own[256];
  const uint item = get_local_id(0);
  own[item] = own[item + 128] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < length; i += get_global_size(0)) {
    const uchar4 bytes = in[i];
    atomic_inc(&own[bytes.x]);
    atomic_inc(&own[bytes.y]);
    atomic_inc(&own[bytes.z]);
    atomic_inc(&own[bytes.w]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[item], own[item]);
  atomic_add(&counts[item + 128], own[item + 128]);
}

typedef half half2_vector __attribute__((ext_vector_type(2)));
typedef short short2_vector __attribute__((ext_vector_type(2)));

// Pairs of halves and of bfloat16s.
kernel void packed(global half2_vector* halves, global short2_vector* brains, global const uint* values) {
  local half2_vector tile[4];
  const uint item = get_local_id(0), value = values[item];
  if (item < 4) tile[item] = (half2_vector)(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  const half2_vector pair = {(half)(int)(value & 7), (half)(-(int)(value >> 8 & 3))};
  __builtin_amdgcn_global_atomic_fadd_v2f16(&halves[value >> 20 & 3], pair);
  __builtin_amdgcn_ds_atomic_fadd_v2f16(&tile[value >> 24 & 3], pair);
  // 1.0 and 2.0, or -1.0 and 0.5
  __builtin_amdgcn_global_atomic_fadd_v2bf16(&brains[value >> 28 & 3], (value & 1) != 0
                                                                           ? (short2_vector){0x3f80, 0x4000}
                                                                           : (short2_vector){(short)0xbf80, 0x3f00});
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < 4) halves[4 + item] = tile[item];
}
