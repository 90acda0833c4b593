/* Preloaded into PostgreSQL: while the file of SLOW_SYNC_FILE exists, each sync of a file takes 300 ms longer, as on a slow disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_the_disk(void) {
  const char *file = getenv("SLOW_SYNC_FILE");
  if (file != NULL && access(file, F_OK) == 0) usleep(300000);
}

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_for_the_disk();
  return real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_for_the_disk();
  return real(fd);
}
