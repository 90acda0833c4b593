/* libopus' silk_warped_autocorrelation_FLP for processors with AVX2.
 *
 * A chain of allpass sections: a[0] is the input, a[i+1](n) = a[i](n-1) + w (a[i+1](n-1) - a[i](n)). The
 * result is corr[i], the sum over n of a[0](n) a[i](n). Sample by sample each section waits for the one
 * before it. Here section i is i samples behind: with b[i](s) = a[i](s - i)
 *
 *   b[i+1](s) = b[i](s-2) + w (b[i+1](s-1) - b[i](s-1))
 *
 * so all sections of a step know their inputs from the steps before. The sums are the same to the bit. */

/* Sections 1 to 4, 5 to 8, ... */
typedef double Quad __attribute__((vector_size(32)));

#define MAX_QUADS 6

/* The last of `low`, then the first three of `high`. GCC knows the one since 12, clang has no other. */
#ifdef __clang__
#define SHIFTED(low, high) __builtin_shufflevector(low, high, 3, 4, 5, 6)
#else
typedef long long Places __attribute__((vector_size(32)));
#define SHIFTED(low, high) __builtin_shuffle(low, high, (Places){3, 4, 5, 6})
#endif
#define INLINE static inline __attribute__((always_inline))

/* `reversed`: the input from behind, between as many zeros on both sides as there are sections. */
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

/* Without FMA, which rounds otherwise. */
__attribute__((target("avx2"))) static void correlate_avx2(double* sums, const double* reversed,
                                                           double warping, int length, int quads) {
  if (quads == 4) {
    correlate(sums, reversed, warping, length, 4); /* of our complexity: all in registers */
  } else {
    correlate(sums, reversed, warping, length, quads);
  }
}

/* libopus' own. */
void silk_warped_autocorrelation_plain(float* corr, const float* input, float warping, int length, int order);

/* `order`: even, 24 at most. */
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
