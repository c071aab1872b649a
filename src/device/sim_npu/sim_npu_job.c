/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of one job hear of each other through a file in memory: each writes when it came to a collective, all read.
 *
 * The file is this user's alone, and made by whoever comes first; the last who leaves takes it away. What dead processes have left
 * is thrown away as soon as none of a job's processes lives. A rank that has ended, or does not come in time, is reported once, and
 * from then on the others go on without it: nothing waits for ever.
 */
#include "device/sim_npu/sim_npu_job.h"

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

#include "collect/host_clock.h"
#include "collect/message.h"
#include "device/sim_npu/sim_npu_run.h"
#include "raw/name_hash.h"

enum { JOB_VERSION = 1, RANKS_MOST = 1024, GROUPS_MOST = 32, KEPT = 64, TIMEOUT_MS = 30000 };
static const uint64_t JOB_MAGIC = 0x424F4A4D49534341; /* "ACSIMJOB" */
enum rank_state { RANK_NEVER, RANK_HERE, RANK_LEFT };

struct came {
    _Atomic uint64_t number; /* of the collective, from 1; written after the time */
    _Atomic uint64_t ns;
};
struct group {
    _Atomic uint64_t name; /* hash; 0: free */
    struct came kept[KEPT];
};
struct rank { /* written by that rank only */
    _Atomic uint32_t state, pid;
    _Atomic uint64_t born; /* so that a number that another process has now is not taken for it */
    struct group group[GROUPS_MOST];
};
struct shared {
    uint64_t magic;
    uint32_t version, ranks;
    struct rank rank[];
};

static struct {
    bool is_joined; /* or it was tried */
    uint32_t rank, ranks;
    pid_t pid;
    int fd;
    char path[200];
    struct shared *shared; /* NULL: alone */
    uint64_t timeout_ns, looked_ns;
    uint64_t names[GROUPS_MOST], next[GROUPS_MOST]; /* of this rank's groups */
    bool is_missing[RANKS_MOST];
} job = { .ranks = 1, .fd = -1 };

/* When a process began, in ticks since the machine did; 0: there is none. */
static uint64_t process_born(pid_t pid)
{
    char path[64], text[1024];
    /* The dot: qemu makes up an answer for a process that asks for itself, and others would not recognise it by that. */
    snprintf(path, sizeof path, "/proc/./%d/stat", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    const char *at = strrchr(text, ')'); /* the name may hold anything */
    enum { FIELDS_TO_IT = 20 };
    char state = 0;
    if (at && at[1] == ' ')
        state = at[2];
    for (int i = 0; at && i < FIELDS_TO_IT; i++)
        at = strchr(at + 1, ' ');
    return at && state != 'Z' && state != 'X' ? strtoull(at, NULL, 10) : 0;
}

static bool rank_lives(const struct rank *r)
{
    const pid_t pid = (pid_t)atomic_load(&r->pid);
    const uint64_t born = atomic_load(&r->born); /* 0: without /proc it could not know, so the number has to do */
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
    return sizeof(struct shared) + ranks * sizeof(struct rank);
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

/* Those who lock it hold it for less than a millisecond. Whoever holds it for longer means to: nobody waits for that. */
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

/* The file, locked; -1 with errno. One that was taken away between opening and locking is not the job's any more. Whose it is is seen
 * before anything is done with it: anybody may put something there under its name. */
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

/* Nobody else can cut the file while it is mapped: it is the user's own, and was created for the user alone. Those who do so are of
 * this program, with the lock, and never while a process of the job lives. */
static struct shared *file_map(int fd, const char **why)
{
    const size_t bytes = shared_bytes(job.ranks);
    struct stat st;
    *why = strerror(ENOMEM);
    for (int tries = 0; tries < 2; tries++) {
        if (fstat(fd, &st) != 0 || (st.st_size == 0 && ftruncate(fd, (off_t)bytes) != 0))
            return NULL;
        const bool is_fresh = st.st_size == 0;
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
        *why = "it belongs to a job of another size";
        if (lives || ftruncate(fd, 0) != 0) /* left by a job whose processes are gone */
            return NULL;
    }
    return NULL;
}

/* In the time of an exit everything else may be gone already: no lock but the file's. */
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
    if (s && rank_lives(&s->rank[job.rank])) {
        munmap(s, shared_bytes(job.ranks));
        s = NULL;
        why = "another process has this rank";
    }
    if (s) {
        struct rank *r = &s->rank[job.rank];
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

/* GROUPS_MOST: no more room. */
static uint32_t group_of(uint64_t name)
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
    const uint32_t i = group_of(group);
    return i < GROUPS_MOST ? job.next[i]++ : of_others++;
}

void npu_job_come(struct npu_meeting *m, uint64_t ns)
{
    const uint32_t i = group_of(m->group);
    m->came_ns = ns;
    if (!job.shared || i == GROUPS_MOST) {
        m->all_ns = ns;
        return;
    }
    struct group *g = &job.shared->rank[job.rank].group[i];
    struct came *c = &g->kept[m->number % KEPT];
    atomic_store(&g->name, m->group);
    atomic_store(&c->ns, ns);
    /* release: who sees the number sees its time */
    atomic_store_explicit(&c->number, m->number + 1, memory_order_release);
}

/* When that rank came; NEVER: not yet. One that is far ahead has come, too, some time ago. */
static uint64_t came_at(const struct rank *r, const struct npu_meeting *m)
{
    for (uint32_t i = 0; i < GROUPS_MOST; i++) {
        const struct group *g = &r->group[i];
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

/* Somebody is missing: has it ended, or is it too late? Its last words may have come between two looks. */
static bool rank_is_lost(uint32_t i, const struct npu_meeting *m, uint64_t now_ns)
{
    const struct rank *r = &job.shared->rank[i];
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
    const bool looks = now_ns - job.looked_ns > LOOK_EVERY_NS; /* whether they live */
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
        latest_ns = now_ns; /* it was waited for until now */
    }
    m->all_ns = latest_ns;
    return latest_ns;
}

void npu_meeting_drop(struct npu_meeting *m)
{
    if (m && --m->n_refs == 0)
        free(m);
}
