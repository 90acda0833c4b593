/*
 * Preloaded into a process (LD_PRELOAD): appends each change of a file below the folder WRITE_LOG_FOLDER, and each write
 * to standard output, to the file WRITE_LOG in the order of execution. A test builds from it what a disk holds after a
 * power failure. For tests only.
 *
 * Each record is a line and the data after it: "write OFFSET LENGTH PATH", "sync PATH", "truncate LENGTH PATH",
 * "unlink PATH", "rename LENGTH PATH" (the data is the new path), "said LENGTH", or "fault PATH" (see below).
 *
 * It also injects faults into writes, syncs and truncations of these files. The operations FAIL_AT to FAIL_AT + FAIL_COUNT - 1
 * fail with FAIL_KIND (EIO or ENOSPC). While the file FAIL_FILE exists, all fail with the kind in it; with the kind "slow",
 * each sync takes 300 ms longer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Recursive, because a signal handler may write to a pipe while its thread holds the lock. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int log_file = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A child that was forked while another thread held the lock would wait for it forever. */
static void unlock_in_child(void) { lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; }

__attribute__((constructor)) static void open_log(void) {
  const char *path = getenv("WRITE_LOG");
  pthread_atfork(NULL, NULL, unlock_in_child);
  if (path != NULL) log_file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Returns whether the descriptor is a file of the folder, and its path. */
static int is_watched(int fd, char *path) {
  const char *folder = getenv("WRITE_LOG_FOLDER");
  char link[64];
  if (folder == NULL || fd < 0) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static void append(const char *head, const void *data, size_t length) {
  if (log_file < 0) return;
  const struct iovec parts[2] = {{(void *)head, strlen(head)}, {(void *)data, length}};
  if (REAL(writev)(log_file, parts, length == 0 ? 1 : 2) < 0) abort();
}

static void log_write(int fd, const void *data, ssize_t length, off_t offset) {
  char path[PATH_MAX];
  char head[PATH_MAX + 64];
  if (length <= 0) return;
  if (fd == 1 && log_file >= 0) {
    snprintf(head, sizeof(head), "said %zd\n", length);
  } else if (is_watched(fd, path)) {
    snprintf(head, sizeof(head), "write %lld %zd %s\n", (long long)offset, length, path);
  } else {
    return;
  }
  append(head, data, (size_t)length);
}

static void log_plain(const char *what, int fd) {
  char path[PATH_MAX];
  char head[PATH_MAX + 64];
  if (!is_watched(fd, path)) return;
  snprintf(head, sizeof(head), "%s %s\n", what, path);
  append(head, NULL, 0);
}

static int error_of(const char *kind) { return strncmp(kind, "ENOSPC", 6) == 0 ? ENOSPC : EIO; }

/* Number of operations on watched files so far. */
static long operations = 0;

static long number_in(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

/* Returns whether the operation fails, and sets errno. */
static int fails(int fd, int is_sync) {
  char path[PATH_MAX];
  char kind[16] = "";
  const char *file = getenv("FAIL_FILE");
  const char *wanted = getenv("FAIL_KIND");
  if ((file == NULL && wanted == NULL) || !is_watched(fd, path)) return 0;
  operations += 1;
  if (wanted != NULL) {
    const long at = number_in("FAIL_AT");
    if (operations >= at && operations < at + number_in("FAIL_COUNT")) {
      log_plain("fault", fd);
      errno = error_of(wanted);
      return 1;
    }
  }
  if (file == NULL) return 0;
  const int control = REAL(open)(file, O_RDONLY | O_CLOEXEC);
  if (control < 0) return 0;
  const ssize_t length = read(control, kind, sizeof(kind) - 1);
  close(control);
  if (length <= 0) return 0;
  if (strncmp(kind, "slow", 4) == 0) {
    if (is_sync) usleep(300000);
    return 0;
  }
  log_plain("fault", fd);
  errno = error_of(kind);
  return 1;
}

/* Position of a write without an offset. */
static off_t position(int fd) {
  struct stat about;
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0 && (flags & O_APPEND) != 0 && fstat(fd, &about) == 0) return about.st_size;
  const off_t at = lseek(fd, 0, SEEK_CUR);
  return at < 0 ? 0 : at;
}

#define LOCKED(type, call, note)  \
  pthread_mutex_lock(&lock);      \
  const type result = (call);     \
  note;                           \
  pthread_mutex_unlock(&lock);    \
  return result

ssize_t write(int fd, const void *data, size_t length) {
  pthread_mutex_lock(&lock);
  /* What is said counts from before it can be read. */
  const off_t at = fd == 1 ? 0 : position(fd);
  if (fd == 1) log_write(fd, data, (ssize_t)length, 0);
  const ssize_t result = fails(fd, 0) ? -1 : REAL(write)(fd, data, length);
  if (fd != 1) log_write(fd, data, result, at);
  pthread_mutex_unlock(&lock);
  return result;
}

static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t at, int is_positioned) {
  ssize_t sum = 0;
  off_t to = is_positioned ? at : position(fd);
  if (fails(fd, 0)) return -1;
  for (int i = 0; i < count; i++) {
    if (fd == 1) log_write(fd, parts[i].iov_base, (ssize_t)parts[i].iov_len, 0);
    const ssize_t done = is_positioned ? REAL(pwrite)(fd, parts[i].iov_base, parts[i].iov_len, to)
                                       : REAL(write)(fd, parts[i].iov_base, parts[i].iov_len);
    if (done < 0) return sum > 0 ? sum : done;
    if (fd != 1) log_write(fd, parts[i].iov_base, done, to);
    sum += done;
    to += done;
  }
  return sum;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  LOCKED(ssize_t, write_parts(fd, parts, count, 0, 0), (void)0);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  LOCKED(ssize_t, write_parts(fd, parts, count, at, 1), (void)0);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
  LOCKED(ssize_t, fails(fd, 0) ? -1 : REAL(pwrite)(fd, data, length, at), log_write(fd, data, result, at));
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
  LOCKED(ssize_t, fails(fd, 0) ? -1 : REAL(pwrite64)(fd, data, length, at), log_write(fd, data, result, at));
}
int fsync(int fd) { LOCKED(int, fails(fd, 1) ? -1 : REAL(fsync)(fd), if (result == 0) log_plain("sync", fd)); }
int fdatasync(int fd) { LOCKED(int, fails(fd, 1) ? -1 : REAL(fdatasync)(fd), if (result == 0) log_plain("sync", fd)); }

static int truncated(int result, int fd, long long length) {
  char head[64];
  snprintf(head, sizeof(head), "truncate %lld", length);
  if (result == 0) log_plain(head, fd);
  return result;
}
int ftruncate(int fd, off_t length) {
  LOCKED(int, fails(fd, 0) ? -1 : REAL(ftruncate)(fd, length), truncated(result, fd, length));
}
int ftruncate64(int fd, off64_t length) {
  LOCKED(int, fails(fd, 0) ? -1 : REAL(ftruncate64)(fd, length), truncated(result, fd, length));
}

static void log_path(const char *head, const char *path, const char *to) {
  const char *folder = getenv("WRITE_LOG_FOLDER");
  char line[PATH_MAX + 64];
  if (folder == NULL || log_file < 0 || strncmp(path, folder, strlen(folder)) != 0) return;
  if (to == NULL) {
    snprintf(line, sizeof(line), "%s %s\n", head, path);
    append(line, NULL, 0);
  } else {
    snprintf(line, sizeof(line), "%s %zu %s\n", head, strlen(to), path);
    append(line, to, strlen(to));
  }
}
int unlink(const char *path) {
  LOCKED(int, REAL(unlink)(path), if (result == 0) log_path("unlink", path, NULL));
}
int rename(const char *from, const char *to) {
  LOCKED(int, REAL(rename)(from, to), if (result == 0) log_path("rename", from, to));
}
