/* Keeps what a disk would have after a power cut. Preloaded into a program, it copies a file of the
 * directory POWER_FROM to the directory POWER_TO whenever the program syncs it (fsync, fdatasync),
 * and repeats a rename or a removal there. Everything else that was written is not there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The counterpart of `path` in POWER_TO; 0 if it is not in POWER_FROM. */
static int counterpart(const char *path, char *other) {
    const char *from = getenv("POWER_FROM"), *to = getenv("POWER_TO");
    size_t length = from ? strlen(from) : 0;
    if (!from || !to || strncmp(path, from, length) || path[length] != '/') return 0;
    return snprintf(other, PATH_MAX, "%s%s", to, path + length) < PATH_MAX;
}

static void keep(int fd) {
    char link[64], path[PATH_MAX], other[PATH_MAX], part[PATH_MAX], block[65536];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    if (!counterpart(path, other) || snprintf(part, sizeof part, "%s.part", other) >= (int)sizeof part) return;
    int from = open(path, O_RDONLY), to = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (from < 0 || to < 0) abort();
    ssize_t got;
    while ((got = read(from, block, sizeof block)) > 0)
        if (write(to, block, got) != got) abort();
    close(from);
    close(to);
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    if (real(part, other)) abort();
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    int result = real(fd);
    if (!result) keep(fd);
    return result;
}

int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    int result = real(fd);
    if (!result) keep(fd);
    return result;
}

/* Names are durable with the next sync of any file, as in ext4 and XFS; sooner is not worse. */
int rename(const char *old, const char *new) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    char a[PATH_MAX], b[PATH_MAX];
    int result = real(old, new);
    if (!result && counterpart(old, a) && counterpart(new, b)) real(a, b);
    return result;
}

int unlink(const char *path) {
    int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
    char other[PATH_MAX];
    int result = real(path);
    if (!result && counterpart(path, other)) real(other);
    return result;
}
