/* AVX2 version of silk_warped_autocorrelation_FLP from libopus.
 *
 * A chain of allpass sections: a[0] is the input, a[i+1](n) = a[i](n-1) + w (a[i+1](n-1) - a[i](n)). The
 * result is corr[i], the sum over n of a[0](n) a[i](n). Computed per sample, each section depends on the
 * previous section. In this version, section i lags by i samples: with b[i](s) = a[i](s - i)
 *
 *   b[i+1](s) = b[i](s-2) + w (b[i+1](s-1) - b[i](s-1))
 *
 * all inputs of a step are results of earlier steps. The sums are bit-exact. */

/* Sections 1 to 4, 5 to 8, ... */
typedef double Quad __attribute__((vector_size(32)));

#define MAX_QUADS 6

/* Returns the last element of `low` and the first three of `high`. GCC has __builtin_shufflevector since
 * version 12; clang has no __builtin_shuffle. */
#ifdef __clang__
#define SHIFTED(low, high) __builtin_shufflevector(low, high, 3, 4, 5, 6)
#else
typedef long long Places __attribute__((vector_size(32)));
#define SHIFTED(low, high) __builtin_shuffle(low, high, (Places){3, 4, 5, 6})
#endif
#define INLINE static inline __attribute__((always_inline))

/* `reversed`: the reversed input, padded on both sides with one zero per section. */
INLINE void correlate(double* sums, const double* reversed, double warping, int length, int quads) {
  const int sections = 4 * quads;
  Quad section[MAX_QUADS] = {{0}}; /* b[i](s-1) */
  Quad before[MAX_QUADS] = {{0}};  /* b[i-1](s-2) */
  Quad sum[MAX_QUADS] = {{0}};
  const Quad w = {warping, warping, warping, warping};
  double newest = 0; /* b[0](s-1) */
  double energy = 0;
  for (int step = 0; step < length + sections; ++step) {
    const double* const now = reversed + length + sections - 1 - step;
    Quad lower = {0, 0, 0, newest};
    for (int i = 0; i < quads; ++i) {
      Quad input;
      __builtin_memcpy(&input, now + 1 + 4 * i, sizeof(input));
      const Quad shifted = SHIFTED(lower, section[i]); /* b[i-1](s-1) */
      lower = section[i];
      section[i] = before[i] + w * (section[i] - shifted);
      before[i] = shifted;
      sum[i] += input * section[i];
    }
    newest = *now;
    energy += newest * newest;
  }
  sums[0] = energy;
  __builtin_memcpy(sums + 1, sum, (unsigned)sections * sizeof(double));
}

/* FMA is not enabled, because it rounds differently. */
__attribute__((target("avx2"))) static void correlate_avx2(double* sums, const double* reversed,
                                                           double warping, int length, int quads) {
  if (quads == 4) {
    correlate(sums, reversed, warping, length, 4); /* the complexity in use: all data fits in registers */
  } else {
    correlate(sums, reversed, warping, length, quads);
  }
}

/* Original function of libopus. */
void silk_warped_autocorrelation_plain(float* corr, const float* input, float warping, int length, int order);

/* `order`: even, at most 24. */
void silk_warped_autocorrelation_FLP(float* corr, const float* input, const float warping, const int length,
                                     const int order) {
  if (!__builtin_cpu_supports("avx2")) {
    silk_warped_autocorrelation_plain(corr, input, warping, length, order);
    return;
  }
  const int quads = (order + 3) / 4;
  const int zeros = 4 * quads;
  double reversed[length + 2 * zeros];
  double sums[4 * MAX_QUADS + 1];
  for (int i = 0; i < zeros; ++i) reversed[i] = reversed[zeros + length + i] = 0;
  for (int i = 0; i < length; ++i) reversed[zeros + length - 1 - i] = input[i];
  correlate_avx2(sums, reversed, warping, length, quads);
  for (int i = 0; i <= order; ++i) corr[i] = (float)sums[i];
}
