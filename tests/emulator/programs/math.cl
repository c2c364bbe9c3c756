// Elementary functions of the device library, correctly rounded arithmetic, conversions, and programs that live on
// them.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define FUNCTIONS_OF_ONE(X, T)                                                                                        \
  X(0, sin(x))                                                                                                        \
  X(1, cos(x))                                                                                                        \
  X(2, tan(x))                                                                                                        \
  X(3, asin(x))                                                                                                       \
  X(4, acos(x))                                                                                                       \
  X(5, atan(x))                                                                                                       \
  X(6, sinh(x))                                                                                                       \
  X(7, cosh(x))                                                                                                       \
  X(8, tanh(x))                                                                                                       \
  X(9, exp(x))                                                                                                        \
  X(10, exp2(x))                                                                                                      \
  X(11, expm1(x))                                                                                                     \
  X(12, log(fabs(x)))                                                                                                 \
  X(13, log2(fabs(x)))                                                                                                \
  X(14, log1p(fabs(x)))                                                                                               \
  X(15, cbrt(x)) X(16, erf(x)) X(17, erfc(x)) X(18, lgamma(x)) X(19, tgamma(x)) X(20, rsqrt(fabs(x))) X(21, sinpi(x)) \
      X(22, exp10(x)) X(23, log10(fabs(x))) X(24, asinh(x)) X(25, atanh(x))

#define ONE(INDEX, CALL) own[INDEX] = CALL;
kernel void elementary_double(global const double* in, global double* out) {
  const double x = in[get_global_id(0)];
  global double* const own = out + 26 * get_global_id(0);
  FUNCTIONS_OF_ONE(ONE, double)
}
kernel void elementary_float(global const float* in, global float* out) {
  const float x = in[get_global_id(0)];
  global float* const own = out + 26 * get_global_id(0);
  FUNCTIONS_OF_ONE(ONE, float)
}

#define OF_TWO(NAME, T)                                                   \
  kernel void NAME(global const T* a, global const T* b, global T* out) { \
    const T x = a[get_global_id(0)], y = b[get_global_id(0)];             \
    global T* const own = out + 4 * get_global_id(0);                     \
    own[0] = pow(fabs(x), y);                                             \
    own[1] = atan2(x, y);                                                 \
    own[2] = hypot(x, y);                                                 \
    own[3] = pown(x, (int)(long)y % 20);                                  \
  }
OF_TWO(of_two_double, double)
OF_TWO(of_two_float, float)

// Exact or correctly rounded: equal in every bit.
#define EXACT(NAME, T, INTEGER)                                           \
  kernel void NAME(global const T* a, global const T* b, global T* out) { \
    const T x = a[get_global_id(0)], y = b[get_global_id(0)];             \
    global T* const own = out + 24 * get_global_id(0);                    \
    int exponent = 0;                                                     \
    T whole = 0;                                                          \
    own[0] = x + y;                                                       \
    own[1] = x - y;                                                       \
    own[2] = x * y;                                                       \
    own[3] = x / y;                                                       \
    own[4] = sqrt(fabs(x));                                               \
    own[5] = fma(x, y, -x);                                               \
    own[6] = fmod(x, y);                                                  \
    own[7] = remainder(x, y);                                             \
    own[8] = floor(x);                                                    \
    own[9] = ceil(x);                                                     \
    own[10] = trunc(x);                                                   \
    own[11] = rint(x);                                                    \
    own[12] = round(x);                                                   \
    own[13] = frexp(x, &exponent);                                        \
    own[14] = exponent;                                                   \
    own[15] = ldexp(x, exponent / 2 - 3);                                 \
    own[16] = modf(x, &whole);                                            \
    own[17] = whole;                                                      \
    own[18] = fmin(x, y);                                                 \
    own[19] = fmax(x, y);                                                 \
    own[20] = copysign(x, y);                                             \
    own[21] = nextafter(x, y);                                            \
    own[22] = fdim(x, y);                                                 \
    own[23] = logb(x);                                                    \
  }
EXACT(exact_double, double, long)
EXACT(exact_float, float, int)

kernel void conversions(global const double* in, global long* out) {
  const double x = in[get_global_id(0)];
  const float f = (float)x;
  const long i = (long)convert_long_sat(x);
  global long* const own = out + 28 * get_global_id(0);
  own[0] = convert_int_sat(x);
  own[1] = convert_uint_sat(x);
  own[2] = convert_long_sat(x);
  own[3] = (long)convert_ulong_sat(x);
  own[4] = convert_short_sat(x);
  own[5] = convert_uchar_sat(x);
  own[6] = convert_int_sat(f);
  own[7] = convert_uint_sat(f);
  own[8] = convert_long_sat(f);
  own[9] = (long)convert_ulong_sat(f);
  own[10] = convert_char_sat_rte(f);
  own[11] = convert_int_sat_rtp(x);
  own[12] = convert_int_sat_rtn(f);
  own[13] = as_int(f);
  own[14] = as_int(convert_float_rtz(x));
  own[15] = as_int(convert_float_rtp(x));
  own[16] = as_int(convert_float_rtn(x));
  own[17] = as_int((float)i);
  own[18] = as_int((float)(ulong)i);
  own[19] = as_long((double)i);
  own[20] = as_long((double)(ulong)i);
  own[21] = as_int((float)(int)i);
  own[22] = as_int((float)(uint)i);
  own[23] = as_short((half)f);
  own[24] = as_int((float)as_half((short)i));
  own[25] = as_short(convert_half_rtz(f));
  own[26] = as_long((double)(int)i) ^ as_long((double)(uint)i);
  own[27] = as_short((half)(short)i);
}

float normal_share(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  const float tail =
      0.39894228f * exp(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

kernel void black_scholes(global const float* price, global const float* strike, global const float* years,
                          global float* calls, global float* puts) {
  const uint item = get_global_id(0);
  const float rate = 0.02f, volatility = 0.3f, root = sqrt(years[item]);
  const float d1 =
      (log(price[item] / strike[item]) + (rate + 0.5f * volatility * volatility) * years[item]) / (volatility * root);
  const float d2 = d1 - volatility * root, discount = exp(-rate * years[item]);
  calls[item] = price[item] * normal_share(d1) - strike[item] * discount * normal_share(d2);
  puts[item] = strike[item] * discount * (1.0f - normal_share(d2)) - price[item] * (1.0f - normal_share(d1));
}

// Bodies in a tile of LDS, with the device's approximate reciprocal square root.
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void attract(global const float4* bodies, global float4* forces,
                                                                    uint count) {
  local float4 tile[64];
  const uint item = get_global_id(0);
  const float4 own = bodies[item];
  float3 sum = 0;
  for (uint base = 0; base < count; base += 64) {
    tile[get_local_id(0)] = bodies[base + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 64; ++i) {
      const float3 way = tile[i].xyz - own.xyz;
      const float inverse = native_rsqrt(dot(way, way) + 0.01f);
      sum += way * (tile[i].w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  forces[item] = (float4)(sum, native_log(length(sum)) + native_sin(own.x) + native_exp(own.y));
}
