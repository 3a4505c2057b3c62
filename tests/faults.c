/* Counts the calls by which a process touches a folder, and lets one of them fail, or be the last.

Preloaded (LD_PRELOAD) into a process, which arms it with `faults_arm`. What Python and Rust ask of the system
goes through these functions of the C library. tests/test_faults.py compares the count with that of strace. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, FAIL, FAIL_FROM, SIGNAL };

static char folder[PATH_MAX];
static size_t folder_length;
static long at = -1;
static int action, value, log_file = -1;
static atomic_long count;
/* Descriptors of files in the folder. */
static _Atomic char watched[65536];

/* Arm: `what` happens at the call of this number, with an error number or a signal. */
void faults_arm(const char *path, long number, int what, int with, int log) {
  snprintf(folder, sizeof folder, "%s", path);
  folder_length = strlen(folder);
  at = number;
  action = what;
  value = with;
  log_file = log;
  count = 0;
}

static int is_inside(int base, const char *path) {
  char whole[PATH_MAX];
  if (!folder_length || !path) return 0;
  if (path[0] != '/') {
    char link[64];
    if (base == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", base);
    ssize_t got = syscall(SYS_readlink, link, whole, sizeof whole - 1);
    if (got < 0) return 0;
    snprintf(whole + got, sizeof whole - got, "/%s", path);
    path = whole;
  }
  return !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}

/* Return the error with which a call is to fail, 0 for none. A disk without space refuses only what needs it. */
static int fault(const char *name, const char *path, int needs_space) {
  int before = errno;
  long number = count++;
  if (log_file >= 0) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s %d %s\n", name, needs_space, path ? path : "-");
    syscall(SYS_write, log_file, line, (size_t)length);
  }
  errno = before;
  if (action == SIGNAL && number == at) {
    kill(getpid(), value);
    return 0;
  }
  if ((action == FAIL && number == at) || (action == FAIL_FROM && number >= at && needs_space)) return value;
  return 0;
}

static int fails(int inside, const char *name, const char *path, int needs_space) {
  int error = inside ? fault(name, path, needs_space) : 0;
  if (error) errno = error;
  return error;
}

static int is_watched(int file) { return file >= 0 && file < 65536 && watched[file]; }

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPEN(name, base, given, parameters, arguments)                                          \
  int name parameters {                                                                         \
    mode_t mode = 0;                                                                            \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                      \
      va_list more;                                                                             \
      va_start(more, flags);                                                                    \
      mode = va_arg(more, mode_t);                                                              \
      va_end(more);                                                                             \
    }                                                                                           \
    NEXT(name);                                                                                 \
    int inside = is_inside(base, given);                                                        \
    if (fails(inside, "open", given, (flags & (O_CREAT | __O_TMPFILE)) != 0)) return -1;        \
    int file = next arguments;                                                                  \
    if (file >= 0 && file < 65536) watched[file] = (char)inside;                                \
    return file;                                                                                \
  }
OPEN(open, AT_FDCWD, path, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, AT_FDCWD, path, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, base, path, (int base, const char *path, int flags, ...), (base, path, flags, mode))
OPEN(openat64, base, path, (int base, const char *path, int flags, ...), (base, path, flags, mode))

/* Calls on an open file. */
#define ON_FILE(type, name, needs_space, parameters, arguments)              \
  type name parameters {                                                     \
    NEXT(name);                                                              \
    if (fails(is_watched(file), #name, NULL, needs_space)) return (type)-1;  \
    return next arguments;                                                   \
  }
ON_FILE(ssize_t, read, 0, (int file, void *to, size_t length), (file, to, length))
ON_FILE(ssize_t, write, 1, (int file, const void *from, size_t length), (file, from, length))
ON_FILE(ssize_t, writev, 1, (int file, const struct iovec *from, int length), (file, from, length))
ON_FILE(ssize_t, pwrite64, 1, (int file, const void *from, size_t length, off64_t to), (file, from, length, to))
ON_FILE(int, fsync, 1, (int file), (file))
ON_FILE(int, fdatasync, 1, (int file), (file))
ON_FILE(int, ftruncate64, 1, (int file, off64_t length), (file, length))
ON_FILE(int, fchmod, 0, (int file, mode_t mode), (file, mode))
ON_FILE(int, flock, 0, (int file, int operation), (file, operation))
ON_FILE(int, fstat, 0, (int file, struct stat *found), (file, found))
ON_FILE(int, fstat64, 0, (int file, struct stat64 *found), (file, found))

int close(int file) {
  NEXT(close);
  int inside = is_watched(file);
  if (inside) watched[file] = 0;
  int error = inside ? fault("close", NULL, 0) : 0;
  int done = next(file);
  /* The descriptor is gone also where `close` says that something failed. */
  if (error) {
    errno = error;
    return -1;
  }
  return done;
}

/* Calls on one name, and on two. */
#define ON_NAME(type, failed, name, needs_space, base, parameters, arguments)        \
  type name parameters {                                                             \
    NEXT(name);                                                                      \
    if (fails(is_inside(base, path), #name, path, needs_space)) return failed;       \
    return next arguments;                                                           \
  }
ON_NAME(int, -1, mkdir, 1, AT_FDCWD, (const char *path, mode_t mode), (path, mode))
ON_NAME(int, -1, mkdirat, 1, base, (int base, const char *path, mode_t mode), (base, path, mode))
ON_NAME(int, -1, unlink, 0, AT_FDCWD, (const char *path), (path))
ON_NAME(int, -1, unlinkat, 0, base, (int base, const char *path, int flags), (base, path, flags))
ON_NAME(int, -1, rmdir, 0, AT_FDCWD, (const char *path), (path))
ON_NAME(int, -1, chmod, 0, AT_FDCWD, (const char *path, mode_t mode), (path, mode))
ON_NAME(int, -1, fchmodat, 0, base, (int base, const char *path, mode_t mode, int flags), (base, path, mode, flags))
ON_NAME(int, -1, rename, 1, AT_FDCWD, (const char *path, const char *new), (path, new))
ON_NAME(int, -1, renameat, 1, base, (int base, const char *path, int other, const char *new), (base, path, other, new))
ON_NAME(int, -1, renameat2, 1, base, (int base, const char *path, int other, const char *new, unsigned flags),
        (base, path, other, new, flags))
ON_NAME(int, -1, link, 1, AT_FDCWD, (const char *path, const char *new), (path, new))
ON_NAME(int, -1, linkat, 1, base, (int base, const char *path, int other, const char *new, int flags),
        (base, path, other, new, flags))
ON_NAME(int, -1, stat, 0, AT_FDCWD, (const char *path, struct stat *found), (path, found))
ON_NAME(int, -1, stat64, 0, AT_FDCWD, (const char *path, struct stat64 *found), (path, found))
ON_NAME(int, -1, lstat, 0, AT_FDCWD, (const char *path, struct stat *found), (path, found))
ON_NAME(int, -1, lstat64, 0, AT_FDCWD, (const char *path, struct stat64 *found), (path, found))
ON_NAME(int, -1, fstatat, 0, base, (int base, const char *path, struct stat *found, int flags),
        (base, path, found, flags))
ON_NAME(int, -1, fstatat64, 0, base, (int base, const char *path, struct stat64 *found, int flags),
        (base, path, found, flags))
ON_NAME(int, -1, statx, 0, base, (int base, const char *path, int flags, unsigned mask, struct statx *found),
        (base, path, flags, mask, found))
ON_NAME(DIR *, NULL, opendir, 0, AT_FDCWD, (const char *path), (path))
