// Sums: reductions and scans by LDS, by lane moves and across workgroups.

__attribute__((reqd_work_group_size(256, 1, 1))) kernel void reduce(global const float* in, global float* out,
                                                                    uint count) {
  local float sums[256];
  const uint item = get_local_id(0);
  float sum = 0;
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) sum += in[i];
  sums[item] = sum;
  for (uint half_size = 128; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) sums[item] += sums[item + half_size];
  }
  if (item == 0) out[get_group_id(0)] = sums[0];
}

// The device library's own group functions.
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void group_functions(global const int* in, global int* out) {
  const int value = in[get_global_id(0)];
  global int* const own = out + 8 * get_global_id(0);
  own[0] = work_group_reduce_add(value);
  own[1] = work_group_scan_inclusive_add(value);
  own[2] = work_group_scan_exclusive_max(value);
  own[3] = work_group_broadcast(value, 77);
  own[4] = sub_group_reduce_min(value);
  own[5] = sub_group_scan_exclusive_add(value);
  own[6] = work_group_any(value > 1000000);
  own[7] = work_group_all(value > -2000000000);
}

uint shifted(uint value, uint lanes) {
  const uint lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  const uint got = __builtin_amdgcn_ds_bpermute((lane - lanes) * 4, value);
  return lane >= lanes ? got : 0;
}

// A wave's inclusive sums of 64-bit values in two halves, and its total from DPP row moves.
kernel void wave_scan(global const ulong* in, global ulong* scan, global uint* totals) {
  const uint item = get_global_id(0);
  ulong sum = in[item];
  for (uint step = 1; step < 64; step *= 2) {
    const ulong left = shifted((uint)sum, step) | (ulong)shifted((uint)(sum >> 32), step) << 32;
    sum += left;
  }
  scan[item] = sum;
  uint total = (uint)in[item];
  total += __builtin_amdgcn_update_dpp(0, total, 0x111, 0xf, 0xf, false);
  total += __builtin_amdgcn_update_dpp(0, total, 0x112, 0xf, 0xf, false);
  total += __builtin_amdgcn_update_dpp(0, total, 0x114, 0xf, 0xe, false);
  total += __builtin_amdgcn_update_dpp(0, total, 0x118, 0xf, 0xc, false);
  total += __builtin_amdgcn_update_dpp(0, total, 0x142, 0xa, 0xf, false);
  total += __builtin_amdgcn_update_dpp(0, total, 0x143, 0xc, 0xf, false);
  totals[item] = __builtin_amdgcn_readlane(total, 63);
}

// Lanes that hold an odd number move to the front of their wave, in order; the rest is left.
kernel void compact(global const uint* in, global uint* out, global uint* counts) {
  const uint value = in[get_global_id(0)];
  const ulong mask = __builtin_amdgcn_ballot_w64(value & 1);
  const uint place = __builtin_amdgcn_mbcnt_hi((uint)(mask >> 32), __builtin_amdgcn_mbcnt_lo((uint)mask, 0));
  if (value & 1) out[get_global_id(0) / 64 * 64 + place] = value;
  if (get_global_id(0) % 64 == 0) counts[get_global_id(0) / 64] = popcount(mask);
}

#define AGGREGATE 1ul
#define PREFIX 2ul

// One pass over the array: a workgroup adds what the ones before it published. state[0] is the ticket counter.
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void look_back(global const uint* in, global uint* out,
                                                                       global atomic_ulong* state,
                                                                       global atomic_uint* ticket) {
  local uint sums[256];
  local uint ticket_word[1], before[1];
  const uint item = get_local_id(0);
  if (item == 0) ticket_word[0] = atomic_fetch_add_explicit(ticket, 1, memory_order_relaxed, memory_scope_device);
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint tile = ticket_word[0];
  uint sum = in[tile * 256 + item];
  sums[item] = sum;
  for (uint step = 1; step < 256; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint left = item >= step ? sums[item - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += left;
    sums[item] = sum;
  }
  if (item == 255) {
    uint prefix = 0;
    atomic_store_explicit(&state[tile], (tile == 0 ? PREFIX : AGGREGATE) << 32 | sum, memory_order_release,
                          memory_scope_device);
    for (uint left = tile; left > 0;) {
      const ulong seen = atomic_load_explicit(&state[left - 1], memory_order_acquire, memory_scope_device);
      if (seen >> 32 == 0) continue;
      prefix += (uint)seen;
      if (seen >> 32 == PREFIX) break;
      --left;
    }
    atomic_store_explicit(&state[tile], PREFIX << 32 | (prefix + sum), memory_order_release, memory_scope_device);
    before[0] = prefix;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[tile * 256 + item] = before[0] + sum;
}
