// Two kernels in OpenCL C. clang alone compiles them: there is no run-time library behind the built-in functions.

// out = a * x + y for n elements; a work-item an element.
kernel void saxpy(float a, global const float* x, global float* y, uint n) {
  const uint i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < n) y[i] = a * x[i] + y[i];
}

// All work-items come here, and see what the others have stored in LDS.
static void meet(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// The largest or the sum of one value of each of the 256 work-items, by halving; `part` holds 256 floats.
static float combine(local float* part, float value, bool sum) {
  const uint item = __builtin_amdgcn_workitem_id_x();
  part[item] = value;
  for (uint half_width = 128; half_width > 0; half_width /= 2) {
    meet();
    if (item < half_width) {
      const float other = part[item + half_width];
      part[item] = sum ? part[item] + other : __builtin_fmaxf(part[item], other);
    }
  }
  meet();
  const float result = part[0];
  meet();
  return result;
}

// The softmax of a row of `columns` numbers; a workgroup of 256 work-items a row.
__attribute__((reqd_work_group_size(256, 1, 1)))
kernel void softmax(global const float* in, global float* out, uint columns, local float* part) {
  const float log2_e = 1.44269504f;
  const uint item = __builtin_amdgcn_workitem_id_x();
  const ulong row = (ulong)__builtin_amdgcn_workgroup_id_x() * columns;

  float largest = -__builtin_inff();
  for (uint c = item; c < columns; c += 256) largest = __builtin_fmaxf(largest, in[row + c]);
  largest = combine(part, largest, false);

  float sum = 0;
  for (uint c = item; c < columns; c += 256) sum += __builtin_amdgcn_exp2f((in[row + c] - largest) * log2_e);
  sum = combine(part, sum, true);

  for (uint c = item; c < columns; c += 256) out[row + c] = __builtin_amdgcn_exp2f((in[row + c] - largest) * log2_e) / sum;
}
