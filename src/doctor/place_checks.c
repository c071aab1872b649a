/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collect/ring/rings_file.h"
#include "collect/session/place.h"

/* The directory, or its nearest existing ancestor: recordings create missing directories. */
static bool nearest(const char *path, char out[PATH_MAX])
{
    if (snprintf(out, PATH_MAX, "%s", *path ? path : ".") >= PATH_MAX)
        return false;
    for (struct stat st; stat(out, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);) {
        if (lstat(out, &st) == 0)
            return true; /* a dangling link, or a file in the path: the check reports it */
        char *const slash = strrchr(out, '/');
        if (!slash)
            memcpy(out, ".", 2);
        else
            slash[slash == out] = '\0';
    }
    return true;
}

/* Opens an unnamed file in the directory. -1: see errno. */
static int file_try(const char *dir)
{
    char path[PATH_MAX + 32];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    snprintf(path, sizeof path, "%s/.ascope-doctor-XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static enum finding_state look_directory(const struct examined *m, struct machine_finding *f)
{
    char dir[PATH_MAX];
    struct stat st;
    place_add(f, "%s", m->out);
    if (!nearest(m->out, dir)) {
        fact_set(f, "%s", place_trouble(ENAMETOOLONG));
        return FINDING_MISSING;
    }
    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)) {
        struct stat link;
        const bool is_link = lstat(dir, &link) == 0 && S_ISLNK(link.st_mode);
        fact_set(f, "%.200s: %s", dir,
                 stat(dir, &st) == 0 ? "a file is where a directory should be"
                 : is_link           ? "a dangling link"
                                     : strerror(errno));
        return FINDING_MISSING;
    }
    const bool is_there = stat(m->out, &st) == 0;
    const int fd = file_try(dir), why = errno;
    if (fd < 0) {
        fact_set(f, "%.200s: not writable: %s", dir, strerror(why));
        return FINDING_MISSING;
    }
    close(fd);
    fact_set(f, is_there ? "%.200s: writable" : "%.200s: will be created", m->out);
    stat(dir, &st);
    if (is_there && st.st_uid != geteuid())
        fact_add(f, ", of user %u", (unsigned)st.st_uid);
    if (is_there && (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX)) {
        fact_add(f, ", writable by everybody");
        effect_set(f, "other users can replace the recordings in it");
        advice_set(f, "chmod o-w, or another directory with --out");
        return FINDING_LIMITED;
    }
    return FINDING_OK;
}

static enum finding_state look_links(const struct examined *m, struct machine_finding *f)
{
    char dir[PATH_MAX], *const real = realpath(m->out, NULL);
    if (!real || !nearest(m->out, dir)) {
        free(real);
        fact_set(f, "the directory does not exist yet");
        return FINDING_NOT_APPLICABLE;
    }
    char part[PATH_MAX];
    bool has_link = false;
    snprintf(part, sizeof part, "%s", m->out);
    for (char *at = part; *at; at++) { /* a, a/b, a/b/c */
        struct stat st;
        const size_t n = strcspn(at + 1, "/") + 1;
        const char was = at[n];
        at[n] = '\0';
        has_link = has_link || (lstat(part, &st) == 0 && S_ISLNK(st.st_mode));
        at[n] = was;
        at += n - 1;
    }
    fact_set(f, has_link ? "the path has links; recordings are in %s" : "none in the path", real);
    free(real);
    return FINDING_OK;
}

enum place_kind { PLACE_DISK, PLACE_MEMORY, PLACE_LAYERED, PLACE_REMOTE };
static const struct {
    uint32_t type;
    const char *name;
    enum place_kind kind;
} file_system[] = {
    { EXT4_SUPER_MAGIC, "ext4", PLACE_DISK },   { XFS_SUPER_MAGIC, "xfs", PLACE_DISK },
    { BTRFS_SUPER_MAGIC, "btrfs", PLACE_DISK }, { F2FS_SUPER_MAGIC, "f2fs", PLACE_DISK },
    { 0x2FC12FC1, "zfs", PLACE_DISK },          { TMPFS_MAGIC, "tmpfs", PLACE_MEMORY },
    { RAMFS_MAGIC, "ramfs", PLACE_MEMORY },     { OVERLAYFS_SUPER_MAGIC, "overlay", PLACE_LAYERED },
    { NFS_SUPER_MAGIC, "nfs", PLACE_REMOTE },   { 0xFF534D42, "cifs", PLACE_REMOTE },
    { 0xFE534D42, "smb2", PLACE_REMOTE },       { CEPH_SUPER_MAGIC, "ceph", PLACE_REMOTE },
    { 0x0BD00BD0, "lustre", PLACE_REMOTE },     { 0x47504653, "gpfs", PLACE_REMOTE },
    { 0x19830326, "beegfs", PLACE_REMOTE },     { FUSE_SUPER_MAGIC, "fuse", PLACE_REMOTE },
    { V9FS_MAGIC, "9p", PLACE_REMOTE },
};

enum finding_state file_system_finding(uint32_t type, struct machine_finding *f)
{
    static const char *const effect[] = {
        [PLACE_DISK] = "",
        [PLACE_MEMORY] = "recordings use memory that the program needs, and are lost after a restart",
        [PLACE_LAYERED] = "recordings are lost with the container",
        [PLACE_REMOTE] =
            "the rings are a mapped file there: a slow or lost connection delays the writer, and records are dropped",
    };
    static const char *const advice[] = {
        [PLACE_DISK] = "",
        [PLACE_MEMORY] = "for long recordings a directory on a disk: --out",
        [PLACE_LAYERED] = "--out in a volume of the container",
        [PLACE_REMOTE] = "ring_dir=/dev/shm, or --out on a local disk",
    };
    for (size_t i = 0; i < sizeof file_system / sizeof *file_system; i++)
        if (file_system[i].type == type) {
            const enum place_kind kind = file_system[i].kind;
            fact_set(f, "%s", file_system[i].name);
            effect_set(f, "%s", effect[kind]);
            advice_set(f, "%s", advice[kind]);
            return kind == PLACE_DISK ? FINDING_OK : FINDING_LIMITED;
        }
    fact_set(f, "of type 0x%x", type);
    return FINDING_OK;
}

static enum finding_state look_file_system(const struct examined *m, struct machine_finding *f)
{
    char dir[PATH_MAX];
    struct statfs s;
    errno = ENAMETOOLONG;
    if (!nearest(m->out, dir) || statfs(dir, &s) != 0) {
        fact_set(f, "%s", strerror(errno));
        return FINDING_MISSING;
    }
    place_add(f, "%s", dir);
    return file_system_finding((uint32_t)s.f_type, f);
}

/* Space for a ring of the default size, which the first recording thread needs. */
enum { RING_ROOM = 6 << 20 };

/* Does what rings_open() does: allocates space, then checks that two mappings of the file share it. Returns an errno
 * value or 0. */
static int map_try(int fd)
{
    const size_t size = sizeof(struct rings_front) + RING_ROOM, page = (size_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)
        return EFBIG; /* exceeding the limit would raise SIGXFSZ */
    int why = posix_fallocate(fd, 0, (off_t)size);
    if (why)
        return why;
    char *const a = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    why = a == MAP_FAILED ? errno : 0;
    char *const b = why ? MAP_FAILED : mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
    why = why ? why : b == MAP_FAILED ? errno : 0;
    if (!why) {
        *(volatile char *)a = 42;
        why = *(volatile char *)b == 42 ? 0 : EIO;
    }
    if (b != MAP_FAILED)
        munmap(b, page);
    if (a != MAP_FAILED)
        munmap(a, page);
    return why;
}

static enum finding_state look_rings(const struct examined *m, struct machine_finding *f)
{
    char dir[PATH_MAX];
    int why = ENAMETOOLONG;
    if (nearest(m->out, dir)) {
        place_add(f, "%s", dir);
        const int fd = file_try(dir);
        why = fd >= 0 ? map_try(fd) : errno;
        if (fd >= 0)
            close(fd);
    }
    if (!why) {
        fact_set(f, "a file there can be mapped and shared");
        return FINDING_OK;
    }
    fact_set(f, "no file there can be mapped and shared: %s", strerror(why));
    return FINDING_MISSING;
}

enum finding_state room_finding(uint64_t bytes, struct machine_finding *f)
{
    enum { MB_PER_S = 64 }; /* a million records of 64 bytes per second: the most that one thread writes */
    const double mib = (double)bytes / (1 << 20), minutes = (double)bytes / (MB_PER_S * 1e6) / 60;
    fact_set(f, mib < 10240 ? "%.0f MiB" : "%.0f GiB", mib < 10240 ? mib : mib / 1024);
    fact_add(f, " free: %.*f minutes of a million records of 64 bytes per second", minutes < 10 ? 1 : 0, minutes);
    return bytes < UINT64_C(64) << 20 ? FINDING_MISSING : bytes < UINT64_C(1) << 30 ? FINDING_LIMITED : FINDING_OK;
}

static enum finding_state look_room(const struct examined *m, struct machine_finding *f)
{
    char dir[PATH_MAX];
    struct statvfs s;
    errno = ENAMETOOLONG;
    if (!nearest(m->out, dir) || statvfs(dir, &s) != 0) {
        fact_set(f, "%s", strerror(errno));
        return FINDING_MISSING;
    }
    place_add(f, "%s", dir);
    if (s.f_files > 0 && s.f_favail < 1000) {
        fact_set(f, "%llu more files can be created", (unsigned long long)s.f_favail);
        return FINDING_LIMITED;
    }
    return room_finding((uint64_t)s.f_bavail * s.f_frsize, f);
}

/* clang-format off */
const struct machine_check place_checks[] = {
    { "output directory", .is_needed = true, .look = look_directory,
      .effect = { [FINDING_OK] = "recordings are written there",
                  [FINDING_MISSING] = "no recording can be written" },
      .advice = { [FINDING_MISSING] = "--out with a directory that you may write to" } },
    { "links", .look = look_links },
    { "file system", .look = look_file_system },
    { "rings", .is_needed = true, .look = look_rings,
      .effect = { [FINDING_OK] = "a killed program loses no record: ascope recover reads its rings",
                  [FINDING_MISSING] = "no session can start" },
      .advice = { [FINDING_MISSING] = "ring_dir=/dev/shm, or --out on another file system" } },
    { "room", .look = look_room,
      .effect = { [FINDING_LIMITED] = "a long recording fills it; what does not fit is dropped and counted",
                  [FINDING_MISSING] = "there is hardly room for a recording" },
      .advice = { [FINDING_LIMITED] = "storage_limit, or --out on a larger file system",
                  [FINDING_MISSING] = "make room, or --out on a larger file system" } },
    { 0 },
};
/* clang-format on */
