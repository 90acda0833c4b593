/*
 * Preloaded into a process (LD_PRELOAD): adds the seconds in the file named by WALL_CLOCK_OFFSET to the wall clock.
 * The monotonic clocks stay unchanged. Each call reads the file again, so a test can set the clock at any moment.
 * For tests only.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long long offset_s(void) {
  const char *path = getenv("WALL_CLOCK_OFFSET");
  FILE *file = path == NULL ? NULL : fopen(path, "r");
  long long seconds = 0;
  if (file == NULL) return 0;
  if (fscanf(file, "%lld", &seconds) != 1) seconds = 0;
  fclose(file);
  return seconds;
}

int clock_gettime(clockid_t id, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(id, time);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) time->tv_sec += offset_s();
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  static int (*real)(struct timeval *, void *);
  if (real == NULL) real = dlsym(RTLD_NEXT, "gettimeofday");
  const int result = real(time, zone);
  if (result == 0) time->tv_sec += offset_s();
  return result;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
