/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of a job share a file in /dev/shm: each writes when it arrived at a collective, and reads the times of the
 * others.
 *
 * The file belongs to this user alone. The first rank creates it, the last one removes it. A file whose processes have
 * all ended is emptied and used again. A rank that has ended or does not arrive in time is reported once, and the
 * others continue without it, so that nothing waits for ever.
 */
#include "device/sim_npu/sim_npu_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "raw/name_hash.h"

enum { JOB_VERSION = 1, RANKS_MOST = 1024, GROUPS_MOST = 32, KEPT = 64, TIMEOUT_MS = 30000 };
static const uint64_t JOB_MAGIC = 0x424F4A4D49534341; /* "ACSIMJOB" */
enum rank_state { RANK_NEVER, RANK_HERE, RANK_LEFT };

struct came {
    _Atomic uint64_t number; /* of the collective, from 1; written after ns */
    _Atomic uint64_t ns;
};
struct sim_npu_job_group {
    _Atomic uint64_t name; /* hash; 0: free */
    struct came kept[KEPT];
};
struct sim_npu_job_rank { /* written by that rank only */
    _Atomic uint32_t state, pid;
    _Atomic uint64_t born; /* the start time of the process: pid and start time together identify it */
    struct sim_npu_job_group group[GROUPS_MOST];
};
struct shared {
    uint64_t magic;
    uint32_t version, ranks;
    struct sim_npu_job_rank rank[];
};

static struct {
    bool is_joined; /* joining was tried */
    uint32_t rank, ranks;
    pid_t pid;
    int fd;
    char path[200];
    struct shared *shared; /* NULL: this rank is alone */
    uint64_t timeout_ns, looked_ns;
    uint64_t names[GROUPS_MOST],
        next[GROUPS_MOST]; /* of the groups of this rank: hash, and number of the next collective */
    bool is_missing[RANKS_MOST];
} job = { .ranks = 1, .fd = -1 };

/* When a process was started, in clock ticks since boot; 0: it does not exist, or has ended. */
static uint64_t process_born(pid_t pid)
{
    char path[64], text[1024];
    /* The dot: qemu fakes /proc/PID/stat of the own process, and other processes would see another start time. */
    snprintf(path, sizeof path, "/proc/./%d/stat", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    const char *at = strrchr(text, ')'); /* the last one: the name of a process may contain any character */
    enum { FIELDS_TO_IT = 20 };
    char state = 0;
    if (at && at[1] == ' ')
        state = at[2];
    for (int i = 0; at && i < FIELDS_TO_IT; i++)
        at = strchr(at + 1, ' ');
    return at && state != 'Z' && state != 'X' ? strtoull(at, NULL, 10) : 0;
}

static bool rank_lives(const struct sim_npu_job_rank *r)
{
    const pid_t pid = (pid_t)atomic_load(&r->pid);
    const uint64_t born = atomic_load(&r->born); /* 0: it had no /proc, and only its pid can be checked */
    return atomic_load(&r->state) == RANK_HERE && (born == 0 ? kill(pid, 0) == 0 : process_born(pid) == born);
}

static bool anybody_lives(const struct shared *s)
{
    for (uint32_t i = 0; i < s->ranks && i < RANKS_MOST; i++)
        if (rank_lives(&s->rank[i]))
            return true;
    return false;
}

static size_t shared_bytes(uint32_t ranks)
{
    return sizeof(struct shared) + ranks * sizeof(struct sim_npu_job_rank);
}

static void path_make(void)
{
    const char *name = getenv("ASCOPE_SIM_JOB"), *address = getenv("MASTER_ADDR"), *port = getenv("MASTER_PORT");
    char key[512];
    if (name && *name)
        snprintf(key, sizeof key, "%s", name);
    else if (port && *port)
        snprintf(key, sizeof key, "%s:%s", address ? address : "", port);
    else
        snprintf(key, sizeof key, "started by %d", (int)getppid());
    snprintf(job.path, sizeof job.path, "%s/ascope-sim-%u-%016llx", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (unsigned)geteuid(), (unsigned long long)name_hash(key));
}

/* Ranks hold the lock for less than a millisecond. After 2 s it is given up: somebody else holds it. False: see
 * errno. */
static bool file_lock(int fd)
{
    enum { TRIES = 2000, PAUSE_NS = 1000000 };
    for (int tries = 0; tries < TRIES; tries++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
    }
    errno = EWOULDBLOCK;
    return false;
}

static bool is_private(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_nlink <= 1 && st->st_uid == geteuid() &&
           (st->st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/* Opens and locks the file; -1: see errno. A file that was removed between opening and locking is not the job's any
 * more, and opening is tried again. The owner is checked first, because /dev/shm and /tmp are writable for
 * everybody. */
static int file_open(void)
{
    for (int tries = 0; tries < 100; tries++) {
        const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
        const int fd = open(job.path, flags, 0600);
        struct stat st;
        if (fd < 0)
            return -1;
        int why = fstat(fd, &st) != 0 ? errno : !is_private(&st) ? EPERM : 0;
        if (why == 0 && !file_lock(fd))
            why = errno;
        if (why == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
            return fd;
        close(fd);
        errno = why ? why : ENOENT;
        if (why)
            return -1;
    }
    return -1;
}

/* Maps the file, and creates its contents if it is empty. Nobody truncates it while it is mapped: only this user can,
 * and this function does so with the lock, and only if no process of the job lives. NULL: *why or errno has the
 * reason. */
static struct shared *file_map(int fd, const char **why)
{
    const size_t bytes = shared_bytes(job.ranks);
    struct stat st;
    for (int tries = 0; tries < 2; tries++) {
        if (fstat(fd, &st) != 0)
            return NULL;
        const bool is_fresh = st.st_size == 0;
        /* Not ftruncate(): where there is no space, writing to a page that does not exist would be SIGBUS. */
        if (is_fresh && (errno = posix_fallocate(fd, 0, (off_t)bytes)) != 0)
            return NULL;
        const size_t mapped = is_fresh ? bytes : (size_t)st.st_size;
        struct shared *s = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (s == MAP_FAILED)
            return NULL;
        if (is_fresh) {
            s->magic = JOB_MAGIC;
            s->version = JOB_VERSION;
            s->ranks = job.ranks;
            return s;
        }
        const bool is_job = mapped >= sizeof *s && s->magic == JOB_MAGIC && s->version == JOB_VERSION &&
                            s->ranks <= RANKS_MOST && mapped == shared_bytes(s->ranks);
        const bool lives = is_job && anybody_lives(s);
        if (lives && s->ranks == job.ranks)
            return s;
        munmap(s, mapped);
        if (lives) {
            *why = "it belongs to a job of another size";
            return NULL;
        }
        if (ftruncate(fd, 0) != 0) /* left by a job whose processes are gone */
            return NULL;
    }
    return NULL;
}

/* Runs at exit, when other parts may have ended already: it takes no lock but that of the file. */
__attribute__((destructor)) static void job_leave(void)
{
    if (!job.shared || job.pid != getpid())
        return;
    const bool is_locked = file_lock(job.fd);
    atomic_store(&job.shared->rank[job.rank].state, RANK_LEFT);
    if (is_locked && !anybody_lives(job.shared))
        unlink(job.path);
    flock(job.fd, LOCK_UN);
}

static void job_join(void)
{
    const char *why = NULL;
    path_make();
    job.pid = getpid();
    job.timeout_ns = (uint64_t)npu_setting("ASCOPE_SIM_TIMEOUT_MS", 1, 86400000, TIMEOUT_MS) * 1000000;
    job.fd = file_open();
    if (job.fd < 0)
        why = errno == EPERM         ? "a file of another user has its name"
              : errno == EWOULDBLOCK ? "another process holds its lock"
                                     : strerror(errno);
    struct shared *s = job.fd >= 0 ? file_map(job.fd, &why) : NULL;
    if (!s && !why)
        why = strerror(errno);
    if (s && rank_lives(&s->rank[job.rank])) {
        munmap(s, shared_bytes(job.ranks));
        s = NULL;
        why = "another process has this rank";
    }
    if (s) {
        struct sim_npu_job_rank *r = &s->rank[job.rank];
        memset(r->group, 0, sizeof r->group);
        atomic_store(&r->pid, (uint32_t)job.pid);
        atomic_store(&r->born, process_born(job.pid));
        atomic_store(&r->state, RANK_HERE);
        flock(job.fd, LOCK_UN);
    } else {
        if (job.fd >= 0)
            close(job.fd);
        job.fd = -1;
        snprintf(npu.message, sizeof npu.message, "simulated device: rank %u continues alone; %.90s: %.90s", job.rank,
                 job.path, why);
        npu_wake();
    }
    job.shared = s;
}

struct npu_job npu_job(void)
{
    if (!job.is_joined) {
        job.is_joined = true;
        job.ranks = (uint32_t)npu_setting("WORLD_SIZE", 1, RANKS_MOST, 1);
        job.rank = (uint32_t)npu_setting("RANK", 0, (long)job.ranks - 1, 0);
        if (job.ranks > 1)
            job_join();
    }
    return (struct npu_job){ job.rank, job.ranks };
}

void npu_job_forget(void)
{
    if (job.shared)
        munmap(job.shared, shared_bytes(job.ranks));
    if (job.fd >= 0)
        close(job.fd);
    job.shared = NULL;
    job.fd = -1;
    job.is_joined = false;
}

/* The index of a group, which is added if it is new; GROUPS_MOST: there is no more room. */
static uint32_t sim_npu_job_group_of(uint64_t name)
{
    uint32_t i = 0;
    while (i < GROUPS_MOST && job.names[i] != name && job.names[i] != 0)
        i++;
    if (i < GROUPS_MOST)
        job.names[i] = name;
    return i;
}

uint64_t npu_job_number(uint64_t group)
{
    static uint64_t of_others;
    const uint32_t i = sim_npu_job_group_of(group);
    return i < GROUPS_MOST ? job.next[i]++ : of_others++;
}

void npu_job_come(struct npu_meeting *m, uint64_t ns)
{
    const uint32_t i = sim_npu_job_group_of(m->group);
    m->came_ns = ns;
    if (!job.shared || i == GROUPS_MOST) {
        m->all_ns = ns;
        return;
    }
    struct sim_npu_job_group *g = &job.shared->rank[job.rank].group[i];
    struct came *c = &g->kept[m->number % KEPT];
    atomic_store(&g->name, m->group);
    atomic_store(&c->ns, ns);
    /* release: a rank that sees the number also sees the time */
    atomic_store_explicit(&c->number, m->number + 1, memory_order_release);
}

/* When a rank arrived; NEVER: not yet. 0: it is so far ahead that its time was overwritten. */
static uint64_t came_at(const struct sim_npu_job_rank *r, const struct npu_meeting *m)
{
    for (uint32_t i = 0; i < GROUPS_MOST; i++) {
        const struct sim_npu_job_group *g = &r->group[i];
        if (atomic_load_explicit(&g->name, memory_order_relaxed) != m->group)
            continue;
        const struct came *c = &g->kept[m->number % KEPT];
        const uint64_t number = atomic_load_explicit(&c->number, memory_order_acquire);
        if (number == m->number + 1)
            return atomic_load_explicit(&c->ns, memory_order_relaxed);
        return number > m->number + 1 ? 0 : NEVER;
    }
    return NEVER;
}

/* Whether a rank that has not arrived has ended or is too late; it is then reported and not waited for again. Its
 * arrival is checked again after that, because it may have arrived just before it ended. */
static bool rank_is_lost(uint32_t i, const struct npu_meeting *m, uint64_t now_ns)
{
    const struct sim_npu_job_rank *r = &job.shared->rank[i];
    const bool is_late = now_ns > m->came_ns && now_ns - m->came_ns > job.timeout_ns;
    const bool is_gone = atomic_load(&r->state) != RANK_NEVER && !rank_lives(r);
    if ((!is_late && !is_gone) || came_at(r, m) != NEVER)
        return false;
    job.is_missing[i] = true;
    if (npu.message[0] == 0)
        snprintf(npu.message, sizeof npu.message, "simulated device: %s: rank %u %s; no longer waiting for it", m->what,
                 i, is_gone ? "has ended" : "did not arrive in time");
    return true;
}

uint64_t npu_job_all(struct npu_meeting *m)
{
    enum { LOOK_EVERY_NS = 50000000 };
    if (m->all_ns != NEVER || m->came_ns == NEVER)
        return m->all_ns;
    const uint64_t now_ns = host_clock_raw_ns();
    const bool looks = now_ns - job.looked_ns > LOOK_EVERY_NS; /* whether processes live is only checked now and then */
    uint64_t latest_ns = m->came_ns;
    for (uint32_t i = 0; i < job.ranks; i++) {
        const uint64_t ns = i == job.rank || job.is_missing[i] ? 0 : came_at(&job.shared->rank[i], m);
        if (ns != NEVER) {
            latest_ns = ns > latest_ns ? ns : latest_ns;
            continue;
        }
        if (!looks)
            return NEVER;
        if (!rank_is_lost(i, m, now_ns)) {
            job.looked_ns = now_ns;
            return NEVER;
        }
        latest_ns = now_ns; /* the others have waited for it until now */
    }
    m->all_ns = latest_ns;
    return latest_ns;
}

void npu_meeting_drop(struct npu_meeting *m)
{
    if (m && --m->n_refs == 0)
        free(m);
}
