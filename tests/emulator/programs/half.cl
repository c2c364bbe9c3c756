// Half precision: packed arithmetic, and the parts of a transformer's layer.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// Correctly rounded, so equal in every bit.
kernel void packed_arithmetic(global const half2* a, global const half2* b, global half2* out) {
  const half2 x = a[get_global_id(0)], y = b[get_global_id(0)];
  global half2* const own = out + 12 * get_global_id(0);
  own[0] = x + y;
  own[1] = x - y.yx;
  own[2] = x * -y;
  own[3] = fma(x, y, -x.yx);
  own[4] = fmin(x, y);
  own[5] = fmax(x, y);
  own[6] = x / y;
  own[7] = sqrt(fabs(x));
  own[8] = floor(x) + trunc(y);
  own[9] = rint(x) - ceil(y);
  own[10] = clamp(x + y, (half2)(0.0h), (half2)(1.0h));
  own[11] = select(x, y, isless(x, y));
}

kernel void elementary_half(global const half* in, global half* out) {
  const half x = in[get_global_id(0)];
  global half* const own = out + 6 * get_global_id(0);
  own[0] = exp(x);
  own[1] = log(fabs(x));
  own[2] = sin(x);
  own[3] = cos(x);
  own[4] = tanh(x);
  own[5] = rsqrt(fabs(x));
}

float wave_sum(float value) {
  for (uint step = 32; step > 0; step /= 2)
    value += as_float(__builtin_amdgcn_ds_bpermute((get_local_id(0) ^ step) * 4, as_int(value)));
  return value;
}
float wave_maximum(float value) {
  for (uint step = 32; step > 0; step /= 2)
    value = fmax(value, as_float(__builtin_amdgcn_ds_bpermute((get_local_id(0) ^ step) * 4, as_int(value))));
  return value;
}

// A wave for each row, 64 work-items.
kernel void softmax(global const half* in, global half* out, uint width) {
  global const half* const row = in + get_group_id(0) * width;
  float top = -INFINITY, sum = 0;
  for (uint i = get_local_id(0); i < width; i += 64) top = fmax(top, (float)row[i]);
  top = wave_maximum(top);
  for (uint i = get_local_id(0); i < width; i += 64) sum += exp((float)row[i] - top);
  sum = wave_sum(sum);
  for (uint i = get_local_id(0); i < width; i += 64)
    out[get_group_id(0) * width + i] = (half)(exp((float)row[i] - top) / sum);
}

kernel void normalise(global const half* in, global half* layer, global half* root, global const half* gains,
                      uint width) {
  global const half* const row = in + get_group_id(0) * width;
  float sum = 0, squares = 0;
  for (uint i = get_local_id(0); i < width; i += 64) {
    const float value = row[i];
    sum += value;
    squares = fma(value, value, squares);
  }
  const float mean = wave_sum(sum) / width, square = wave_sum(squares) / width;
  const float by_layer = rsqrt(square - mean * mean + 1e-5f), by_root = rsqrt(square + 1e-5f);
  for (uint i = get_local_id(0); i < width; i += 64) {
    layer[get_group_id(0) * width + i] = (half)(((float)row[i] - mean) * by_layer * (float)gains[i]);
    root[get_group_id(0) * width + i] = (half)((float)row[i] * by_root) * gains[i];
  }
}

// One query a work-item against all keys, with a running maximum; 32 wide.
#define HEAD 32
kernel void attention(global const half* queries, global const half* keys, global const half* values, global half* out,
                      uint count) {
  local half tile_keys[16][HEAD], tile_values[16][HEAD];
  const uint item = get_global_id(0);
  float query[HEAD], sums[HEAD], top = -INFINITY, total = 0;
  for (uint d = 0; d < HEAD; ++d) {
    query[d] = (float)queries[item * HEAD + d] * 0.17677669f;
    sums[d] = 0;
  }
  for (uint base = 0; base < count; base += 16) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < 16 * HEAD; i += get_local_size(0)) {
      tile_keys[i / HEAD][i % HEAD] = keys[base * HEAD + i];
      tile_values[i / HEAD][i % HEAD] = values[base * HEAD + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16 && base + k <= item; ++k) {
      float score = 0;
      for (uint d = 0; d < HEAD; ++d) score = fma(query[d], (float)tile_keys[k][d], score);
      const float next = fmax(top, score), keep = exp(top - next), weight = exp(score - next);
      total = total * keep + weight;
      for (uint d = 0; d < HEAD; ++d) sums[d] = sums[d] * keep + weight * (float)tile_values[k][d];
      top = next;
    }
  }
  for (uint d = 0; d < HEAD; ++d) out[item * HEAD + d] = (half)(sums[d] / total);
}
