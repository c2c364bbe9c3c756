// Divergence, private memory, calls, generic pointers, grids of three dimensions, LDS sized at launch.
#include "control_core.h"

kernel void interpret_programs(global const uchar* codes, global const int* arguments, global int* out, uint length) {
  const uint item = get_global_id(0);
  uchar code[32];
  for (uint i = 0; i < length; ++i) code[i] = codes[item % 4 * length + i];
  out[item] = interpret(code, arguments[item]);
}

kernel void count_queens(global uint* out, int n) { out[get_global_id(0)] = queens(n, get_global_id(0) % n); }

kernel void count_collatz(global uint* out) { out[get_global_id(0)] = collatz(get_global_id(0) * 9 + 1); }

kernel void draw_mandelbrot(global uint* out, uint limit) {
  const uint x = get_global_id(0), y = get_global_id(1);
  out[y * get_global_size(0) + x] = mandelbrot(x * 0.0625f - 2.0f, y * 0.125f - 1.0f, limit);
}

kernel void mix_records(global ulong* out) { out[get_global_id(0)] = records(get_global_id(0) * 77 + 5); }

int picked(const int* from, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum = sum * 3 + from[i];
  return sum;
}

// One function reads LDS, private and global memory by a pointer of no address space.
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void any_memory(global int* in, global int* out,
                                                                       local int* tile) {
  const uint item = get_local_id(0);
  int own[8];
  for (uint i = 0; i < 8; ++i) own[i] = in[(item + i * 5) % 64] * (int)(i + 1);
  for (uint i = 0; i < 8; ++i) tile[item * 8 + i] = in[item] - (int)i;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int* where = item % 3 == 0   ? (const int*)own
                     : item % 3 == 1 ? (const int*)tile + item * 8
                                     : (const int*)in + item % 50;
  int* put = item % 2 == 0 ? (int*)own : (int*)tile + item * 8;
  const int sum = picked(where, 8);
  put[item % 8] = sum;
  out[item] = sum + own[item % 8] * 7 + tile[item * 8 + item % 8] * 5;
}

// Where a work-item is, in three dimensions.
kernel void places(global uint* out) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  const uint place = (z * get_global_size(1) + y) * get_global_size(0) + x;
  const uint inside = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
  const uint group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
  out[place] = group << 16 | inside << 4 | get_work_dim();
}

// Two arrays of LDS sized at launch beside a fixed one.
kernel void rotate_in_lds(global const uint* in, global uint* out, local uint* first, local ulong* second) {
  local uint fixed_words[3];
  const uint item = get_local_id(0), count = get_local_size(0);
  if (item < 3) fixed_words[item] = item + 1;
  first[item] = in[get_global_id(0)];
  second[item] = (ulong)in[get_global_id(0)] << 20;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] =
      first[(item + fixed_words[0]) % count] ^ (uint)(second[(item + fixed_words[2]) % count] >> 16);
}

// Blocks of private and of global memory are copied and filled.
kernel void copy_blocks(global uchar* bytes) {
  global uchar* const own = bytes + 64 * get_global_id(0);
  uchar block[64], other[64];
  __builtin_memcpy(block, own, 64);
  __builtin_memset(other, 0xa5, 64);
  __builtin_memcpy(other + 3, block + 8, 21);
  __builtin_memmove(other + 10, other + 5, 40);
  for (uint i = 0; i < 64; ++i) other[i] ^= block[(i * 11 + get_global_id(0)) % 64];
  __builtin_memcpy(own, other, 64);
}

// Conway's cells on a torus, several generations in LDS.
__attribute__((reqd_work_group_size(16, 16, 1))) kernel void life(global uchar* cells, uint generations) {
  local uchar now[16][16];
  const uint x = get_local_id(0), y = get_local_id(1);
  global uchar* const own = cells + get_group_id(0) * 256;
  now[y][x] = own[y * 16 + x];
  for (uint g = 0; g < generations; ++g) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint neighbours = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) neighbours += dx == 0 && dy == 0 ? 0 : now[(y + dy) & 15][(x + dx) & 15];
    }
    const uchar next = neighbours == 3 || (neighbours == 2 && now[y][x]);
    barrier(CLK_LOCAL_MEM_FENCE);
    now[y][x] = next;
  }
  own[y * 16 + x] = now[y][x];
}
