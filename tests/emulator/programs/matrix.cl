// Matrices: transposes through LDS, tiled products, the matrix core through builtins, graphs as matrices.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define TILE 16

// A tile of 32 x 32 words by 32 x 8 work-items, with a padded row against bank conflicts.
__attribute__((reqd_work_group_size(32, 8, 1))) kernel void transpose(global const float* in, global float* out,
                                                                      uint width, uint height) {
  local float tile[32][33];
  const uint x = get_group_id(0) * 32, y = get_group_id(1) * 32, lx = get_local_id(0), ly = get_local_id(1);
  for (uint i = ly; i < 32; i += 8) {
    if (x + lx < width && y + i < height) tile[i][lx] = in[(y + i) * width + x + lx];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = ly; i < 32; i += 8) {
    if (y + lx < height && x + i < width) out[(x + i) * height + y + lx] = tile[lx][i];
  }
}

// Squares of 16 x 16 halves; gfx950 reads them transposed.
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void transpose_halves(global const ushort* in,
                                                                             global ushort* out) {
  local ushort tile[256];
  const uint item = get_local_id(0);
  const uint base = get_group_id(0) * 256;
  for (uint i = 0; i < 4; ++i) tile[item * 4 + i] = in[base + item * 4 + i];
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef __gfx950__
  typedef short short4_vector __attribute__((ext_vector_type(4)));
  const short4_vector column = __builtin_amdgcn_ds_read_tr16_b64_v4i16((local short4_vector*)(tile + item * 4));
#else
  const short4 column = {tile[(item / 16 * 4 + 0) * 16 + item % 16], tile[(item / 16 * 4 + 1) * 16 + item % 16],
                         tile[(item / 16 * 4 + 2) * 16 + item % 16], tile[(item / 16 * 4 + 3) * 16 + item % 16]};
#endif
  for (uint i = 0; i < 4; ++i) out[base + item % 16 * 16 + item / 16 * 4 + i] = column[i];
}

#define PRODUCT(NAME, T)                                                                                        \
  __attribute__((reqd_work_group_size(TILE, TILE, 1))) kernel void NAME(global const T* a, global const T* b,   \
                                                                        global T* c, uint n, T alpha, T beta) { \
    local T left[TILE][TILE], right[TILE][TILE];                                                                \
    const uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);     \
    T sum = 0;                                                                                                  \
    for (uint k = 0; k < n; k += TILE) {                                                                        \
      left[y][x] = a[row * n + k + x];                                                                          \
      right[y][x] = b[(k + y) * n + column];                                                                    \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                             \
      for (uint i = 0; i < TILE; ++i) sum = fma(left[y][i], right[i][x], sum);                                  \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                             \
    }                                                                                                           \
    c[row * n + column] = fma(alpha, sum, beta * c[row * n + column]);                                          \
  }
PRODUCT(multiply_float, float)
PRODUCT(multiply_double, double)

typedef half half4_vector __attribute__((ext_vector_type(4)));
typedef short short4_vector __attribute__((ext_vector_type(4)));
typedef float float4_vector __attribute__((ext_vector_type(4)));
typedef float float16_vector __attribute__((ext_vector_type(16)));
typedef double double4_vector __attribute__((ext_vector_type(4)));
typedef int int4_vector __attribute__((ext_vector_type(4)));

// C[16][16] = A[16][K] * B[K][16] of one wave, for the layouts of the 16 x 16 forms: lane l has row (of A) or column
// (of B) l % 16 and its share l / 16 of k; of C it has column l % 16 and rows 4 * (l / 16) + 0..3.
#define ROW (get_local_id(0) % 16)
#define SHARE (get_local_id(0) / 16)

kernel void mfma_half(global const half* a, global const half* b, global float* c, uint depth) {
  float4_vector sum = 0;
  for (uint k = 0; k < depth; k += 16) {
    half4_vector left, right;
    for (uint i = 0; i < 4; ++i) {
      left[i] = a[ROW * depth + k + 4 * SHARE + i];
      right[i] = b[(k + 4 * SHARE + i) * 16 + ROW];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, sum, 0, 0, 0);
  }
  for (uint i = 0; i < 4; ++i) c[(4 * SHARE + i) * 16 + ROW] = sum[i];
}

kernel void mfma_brain(global const ushort* a, global const ushort* b, global float* c, uint depth) {
  float4_vector sum = 0;
  for (uint k = 0; k < depth; k += 16) {
    short4_vector left, right;
    for (uint i = 0; i < 4; ++i) {
      left[i] = (short)a[ROW * depth + k + 4 * SHARE + i];
      right[i] = (short)b[(k + 4 * SHARE + i) * 16 + ROW];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(left, right, sum, 0, 0, 0);
  }
  for (uint i = 0; i < 4; ++i) c[(4 * SHARE + i) * 16 + ROW] = sum[i];
}

kernel void mfma_double(global const double* a, global const double* b, global double* c, uint depth) {
  double4_vector sum = 0;
  for (uint k = 0; k < depth; k += 4) {
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[ROW * depth + k + SHARE], b[(k + SHARE) * 16 + ROW], sum, 0, 0, 0);
  }
  // f64: rows SHARE + 4 * i
  for (uint i = 0; i < 4; ++i) c[(SHARE + 4 * i) * 16 + ROW] = sum[i];
}

ulong eight_bytes(global const uchar* first, uint stride) {
  ulong word = 0;
  for (uint i = 0; i < 8; ++i) word |= (ulong)first[i * stride] << (8 * i);
  return word;
}

kernel void mfma_bytes(global const uchar* a, global const uchar* b, global int* c, uint depth) {
  int4_vector sum = 0;
  for (uint k = 0; k < depth; k += 32) {
    sum = __builtin_amdgcn_mfma_i32_16x16x32_i8(eight_bytes(a + ROW * depth + k + 8 * SHARE, 1),
                                                eight_bytes(b + (k + 8 * SHARE) * 16 + ROW, 16), sum, 0, 0, 0);
  }
  for (uint i = 0; i < 4; ++i) c[(4 * SHARE + i) * 16 + ROW] = sum[i];
}

kernel void mfma_fp8(global const uchar* a, global const uchar* b, global float* c, uint depth) {
  float4_vector sum = 0;
  for (uint k = 0; k < depth; k += 32) {
    sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(eight_bytes(a + ROW * depth + k + 8 * SHARE, 1),
                                                     eight_bytes(b + (k + 8 * SHARE) * 16 + ROW, 16), sum, 0, 0, 0);
  }
  for (uint i = 0; i < 4; ++i) c[(4 * SHARE + i) * 16 + ROW] = sum[i];
}

// 32 x 32: rows of C are 8 * (i / 4) + 4 * (lane / 32) + i % 4.
kernel void mfma_wide(global const half* a, global const half* b, global float* c, uint depth) {
  const uint row = get_local_id(0) % 32, share = get_local_id(0) / 32;
  float16_vector sum = 0;
  for (uint k = 0; k < depth; k += 8) {
    half4_vector left, right;
    for (uint i = 0; i < 4; ++i) {
      left[i] = a[row * depth + k + 4 * share + i];
      right[i] = b[(k + 4 * share + i) * 32 + row];
    }
    sum = __builtin_amdgcn_mfma_f32_32x32x8f16(left, right, sum, 0, 0, 0);
  }
  for (uint i = 0; i < 16; ++i) c[(i / 4 * 8 + 4 * share + i % 4) * 32 + row] = sum[i];
}

// All shortest ways; one launch for each middle.
kernel void shorten(global int* distances, uint n, uint middle) {
  const uint x = get_global_id(0), y = get_global_id(1);
  const int around = distances[y * n + middle] + distances[middle * n + x];
  if (around < distances[y * n + x]) distances[y * n + x] = around;
}

// y = A x with A's rows compressed; a wave for each row.
kernel void sparse_product(global const uint* starts, global const uint* columns, global const double* values,
                           global const double* x, global double* y) {
  local double sums[64];
  const uint row = get_group_id(0), lane = get_local_id(0);
  double sum = 0;
  for (uint i = starts[row] + lane; i < starts[row + 1]; i += 64) sum += values[i] * x[columns[i]];
  sums[lane] = sum;
  for (uint half_size = 32; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_size) sums[lane] += sums[lane + half_size];
  }
  if (lane == 0) y[row] = sums[0];
}

// One level of a breadth-first search: nodes of `queue` put their new neighbours into `next`.
kernel void search_level(global const uint* starts, global const uint* edges, global uint* levels,
                         global const uint* queue, uint length, global uint* next, global uint* next_length,
                         uint level) {
  const uint item = get_global_id(0);
  if (item >= length) return;
  const uint node = queue[item];
  for (uint i = starts[node]; i < starts[node + 1]; ++i) {
    if (atomic_cmpxchg(&levels[edges[i]], ~0u, level) == ~0u) next[atomic_inc(next_length)] = edges[i];
  }
}
