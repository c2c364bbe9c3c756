// Sorting: a bitonic network in LDS and through memory, a stable radix sort, an odd-even merge by binary search.

// Sorts 512 keys in LDS, one workgroup of 256.
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void bitonic_tile(global uint* keys) {
  local uint tile[512];
  const uint item = get_local_id(0);
  global uint* const own = keys + get_group_id(0) * 512;
  tile[item] = own[item];
  tile[item + 256] = own[item + 256];
  for (uint size = 2; size <= 512; size *= 2) {
    for (uint stride = size / 2; stride > 0; stride /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint low = 2 * item - (item & (stride - 1));
      const bool descending = (low & size) != 0;
      const uint a = tile[low], b = tile[low + stride];
      if ((a > b) != descending) {
        tile[low] = b;
        tile[low + stride] = a;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  own[item] = tile[item];
  own[item + 256] = tile[item + 256];
}

// One step of the network over the whole array: 64-bit floating point keys.
kernel void bitonic_step(global double* keys, uint size, uint stride) {
  const uint item = get_global_id(0);
  const uint low = 2 * item - (item & (stride - 1));
  const bool descending = (low & size) != 0;
  const double a = keys[low], b = keys[low + stride];
  if ((a > b) != descending) {
    keys[low] = b;
    keys[low + stride] = a;
  }
}

#define DIGITS 16
#define THREADS 64
#define KEYS_A_THREAD 4
#define TILE (THREADS * KEYS_A_THREAD)

// Digit counts of a tile, as counts[digit][group].
__attribute__((reqd_work_group_size(THREADS, 1, 1))) kernel void radix_count(global const ulong* keys,
                                                                             global uint* counts, uint shift) {
  local uint histogram[DIGITS];
  const uint item = get_local_id(0);
  if (item < DIGITS) histogram[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < KEYS_A_THREAD; ++i) {
    const ulong key = keys[get_group_id(0) * TILE + i * THREADS + item];
    atomic_inc(&histogram[(key >> shift) & (DIGITS - 1)]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < DIGITS) counts[item * get_num_groups(0) + get_group_id(0)] = histogram[item];
}

// Exclusive prefix sums of `count` words by one workgroup.
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void exclusive_scan(global uint* values, uint count) {
  local uint sums[256];
  const uint item = get_local_id(0);
  uint carry = 0;
  for (uint base = 0; base < count; base += 256) {
    const uint own = base + item < count ? values[base + item] : 0;
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < 256; step *= 2) {
      const uint left = item >= step ? sums[item - step] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      sums[item] += left;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (base + item < count) values[base + item] = carry + sums[item] - own;
    carry += sums[255];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Stable: a thread owns consecutive keys, and counts of the threads before it come from LDS.
__attribute__((reqd_work_group_size(THREADS, 1, 1))) kernel void radix_scatter(global const ulong* keys,
                                                                               global const uint* values,
                                                                               global ulong* keys_out,
                                                                               global uint* values_out,
                                                                               global const uint* offsets, uint shift) {
  local ushort counts[THREADS][DIGITS];
  const uint item = get_local_id(0), first = get_group_id(0) * TILE + item * KEYS_A_THREAD;
  for (uint d = 0; d < DIGITS; ++d) counts[item][d] = 0;
  for (uint i = 0; i < KEYS_A_THREAD; ++i) counts[item][(keys[first + i] >> shift) & (DIGITS - 1)]++;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < DIGITS) {
    ushort sum = 0;
    for (uint t = 0; t < THREADS; ++t) {
      const ushort own = counts[t][item];
      counts[t][item] = sum;
      sum += own;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < KEYS_A_THREAD; ++i) {
    const uint digit = (keys[first + i] >> shift) & (DIGITS - 1);
    const uint place = offsets[digit * get_num_groups(0) + get_group_id(0)] + counts[item][digit]++;
    keys_out[place] = keys[first + i];
    values_out[place] = values[first + i];
  }
}

// Merges sorted runs of `width` signed 16-bit keys: each key finds its place in the other run.
kernel void merge_runs(global const short* in, global short* out, uint width) {
  const uint item = get_global_id(0);
  const uint run = item / width, pair = run / 2, other = (run ^ 1) * width;
  const short key = in[item];
  uint low = 0, high = width;
  while (low < high) {
    const uint middle = (low + high) / 2;
    const short there = in[other + middle];
    if (run % 2 == 0 ? there < key : there <= key)
      low = middle + 1;
    else
      high = middle;
  }
  out[pair * 2 * width + item % width + low] = key;
}
