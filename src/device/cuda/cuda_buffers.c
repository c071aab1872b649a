/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cuda.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/process/background.h"
#include "collect/ring/ring.h"
#include "collect/session/graph_nodes.h"
#include "collect/write/name_dictionary.h"
#include "device/cuda/cupti_library.h"
#include "raw/cuda_records.h"
#include "raw/name_hash.h"

/* CUPTI clears a buffer on the program's thread that needs it, so that large buffers cost more than frequent flushes: a
 * loop of small kernels was 8 % slower with 4 MiB every 20 ms than with 256 KiB every 20 ms, or with 4 MiB every 100
 * ms. */
enum { BUFFERS = 64, BUFFER_BYTES = 512 << 10 };
enum { FLUSH_NS = 20000000, SHORT_WAIT_NS = 200000 };
enum { NAMES = 4096, PROBES = 8 };

typedef char *demangler(const char *name, char *buffer, size_t *bytes, int *status);

static struct {
    const struct cupti_calls *calls;
    uint32_t version;
    uint8_t *memory;
    void (*_Atomic at_first)(void);
    _Atomic uint64_t empty, full; /* a bit for each buffer; a buffer in neither is with CUPTI, or being read */
    size_t used[BUFFERS];         /* bytes of full ones */
    sem_t ready;
    struct background thread;
    demangler *demangle; /* NULL: there is none, and names stay mangled */
    _Atomic bool runs;
    _Atomic uint64_t keep_from_ns, n_dropped, n_unusable, devices;
    struct cuda_buffers_known_name {
        const char *at; /* the address of CUPTI's text, which all records of a kernel share */
        char *text;     /* a copy of that text; NULL: the slot is unused */
        uint64_t shown; /* hash of the demangled name */
    } name[NAMES];
} pool;

/* ---- with CUPTI ---- */

void buffers_wanted(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    uint64_t empty = atomic_load_explicit(&pool.empty, memory_order_relaxed);
    void (*const begins)(void) = atomic_exchange(&pool.at_first, NULL);
    if (begins)
        begins();
    *most_records = 0; /* as many as fit */
    *buffer = NULL;
    *bytes = 0;
    while (empty != 0) {
        const uint64_t first = empty & -empty;
        /* acquire: the reading thread is done with its contents */
        if (atomic_compare_exchange_weak_explicit(&pool.empty, &empty, empty & ~first, memory_order_acquire,
                                                  memory_order_relaxed)) {
            *buffer = pool.memory + (size_t)__builtin_ctzll(first) * BUFFER_BYTES;
            *bytes = BUFFER_BYTES;
            return;
        }
    }
}

static void dropped_ask(void *context, uint32_t stream)
{
    size_t n = 0;
    if (pool.calls->n_dropped(context, stream, &n) == 0) /* CUPTI counts since the last question */
        atomic_fetch_add(&pool.n_dropped, n);
}

void buffers_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used)
{
    (void)bytes;
    dropped_ask(context, stream);
    const size_t offset = buffer ? (size_t)(buffer - pool.memory) : SIZE_MAX;
    if (offset >= (size_t)BUFFERS * BUFFER_BYTES)
        return;
    const size_t i = offset / BUFFER_BYTES;
    pool.used[i] = used <= BUFFER_BYTES ? used : 0;
    if (used == 0 || !atomic_load(&pool.runs)) {
        atomic_fetch_or(&pool.empty, UINT64_C(1) << i);
        return;
    }
    atomic_fetch_or_explicit(&pool.full, UINT64_C(1) << i, memory_order_release); /* `used` is visible before the bit */
    sem_post(&pool.ready);
}

/* ---- names ---- */

/* The demangler of the program's C++ library. */
static demangler *demangler_find(void)
{
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!found) {
        void *const library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        found = library ? dlsym(library, "__cxa_demangle") : NULL;
    }
    demangler *function;
    memcpy(&function, &found, sizeof function);
    return function;
}

static uint64_t name_shown(const char *compiled, bool *is_said)
{
    int status = 0;
    char *const text = pool.demangle && compiled[0] == '_' ? pool.demangle(compiled, NULL, NULL, &status) : NULL;
    const char *const shown = text && status == 0 ? text : compiled;
    const size_t n = strlen(shown);
    const uint64_t number = name_hash_of(shown, n);
    *is_said = names_say(number, shown, n);
    free(text);
    return number;
}

/* The hash of the demangled name of a kernel, from a cache by the address of CUPTI's text. An address may be reused
 * after a module was unloaded, so the text is compared, too; that is cheaper than hashing the long names of
 * templates. */
static uint64_t cuda_buffers_name_of(const char *compiled)
{
    const size_t first = (size_t)((uintptr_t)compiled * UINT64_C(0x9E3779B97F4A7C15) >> 52);
    struct cuda_buffers_known_name *free_one = NULL;
    for (size_t i = 0; i < PROBES; i++) {
        struct cuda_buffers_known_name *const k = &pool.name[(first + i) % NAMES];
        if (k->text && k->at == compiled && strcmp(k->text, compiled) == 0)
            return k->shown;
        if (!free_one && (!k->text || k->at == compiled))
            free_one = k;
    }
    bool is_said;
    const uint64_t shown = name_shown(compiled, &is_said);
    struct cuda_buffers_known_name *const k = free_one ? free_one : &pool.name[first];
    char *const text = is_said ? strdup(compiled) : NULL; /* a name that was not recorded is tried again next time */
    if (text) {
        free(k->text);
        *k = (struct cuda_buffers_known_name){ compiled, text, shown };
    }
    return shown;
}

static void names_forget(void)
{
    for (size_t i = 0; i < NAMES; i++)
        free(pool.name[i].text);
    memset(pool.name, 0, sizeof pool.name);
}

/* ---- the thread ---- */

static void wait_ns(long ns)
{
    nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static void unusable(void)
{
    if (atomic_load_explicit(&pool.keep_from_ns, memory_order_relaxed) != UINT64_MAX) /* records are kept: no warm-up */
        atomic_fetch_add(&pool.n_unusable, 1);
}

static void record_put(struct cupti_record *t)
{
    const bool is_memory = t->layout == &cuda_memory_layout;
    const size_t bytes = t->layout->size;
    if (t->device >= CUDA_DEVICES && is_memory)
        t->device = 0; /* memory of the host may have no device */
    if (t->begin_ns == 0 || t->device >= CUDA_DEVICES) {
        unusable();
        return;
    }
    if (t->begin_ns < atomic_load_explicit(&pool.keep_from_ns, memory_order_relaxed))
        return;
    if (t->name)
        layout_put(&cuda_task_layout, CUDA_NAME, t->record, cuda_buffers_name_of(t->name));
    while (ring_is_short()) /* wait for the writer rather than drop: nobody waits for this thread */
        wait_ns(SHORT_WAIT_NS);
    const struct ring_slot slot = ring_put(is_memory ? STREAM_CUDA_MEMORY : STREAM_CUDA, t->device, bytes);
    if (!slot.at)
        return;
    memcpy(slot.at, t->record, bytes);
    ring_done(slot);
    atomic_fetch_or_explicit(&pool.devices, UINT64_C(1) << t->device, memory_order_relaxed);
}

static void buffer_read(size_t i)
{
    uint8_t *const buffer = pool.memory + i * BUFFER_BYTES, *record = NULL;
    const size_t used = pool.used[i];
    struct cupti_record found;
    int32_t code;
    while ((code = pool.calls->next_record(buffer, used, &record)) == 0 && record) {
        const size_t at = (size_t)(record - buffer);
        switch (at < used ? cupti_record_read(record, used - at, pool.version, &found) : CUPTI_FOUND_PART) {
        case CUPTI_FOUND: record_put(&found); break;
        case CUPTI_FOUND_PART: unusable(); break;
        case CUPTI_FOUND_OTHER: break;
        }
    }
    if (code != 0 && code != CUPTI_MAX_LIMIT) /* CUPTI_MAX_LIMIT: there are no more records */
        unusable();
}

/* Reads one full buffer. False: there is none. */
static bool take_one(void)
{
    const uint64_t full = atomic_load_explicit(&pool.full, memory_order_acquire);
    if (full == 0)
        return false;
    const size_t i = (size_t)__builtin_ctzll(full);
    atomic_fetch_and(&pool.full, ~(UINT64_C(1) << i));
    buffer_read(i);
    atomic_fetch_or_explicit(&pool.empty, UINT64_C(1) << i,
                             memory_order_release); /* reading it happens before its reuse */
    return true;
}

/* Waits until a buffer is full, or until this time of steady_ns(). */
static void ready_wait(uint64_t until_ns)
{
    const uint64_t now_ns = steady_ns();
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* the only clock of sem_timedwait() */
    until.tv_nsec += now_ns < until_ns ? (long)(until_ns - now_ns) : 0;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    sem_timedwait(&pool.ready, &until); /* if interrupted, the caller's loop waits again */
}

/* Opens nothing once the program goes on, which may close every descriptor at any moment: CUPTI's flush may need those
 * of the program, so this thread cannot have a table of its own. */
static void *thread_run(void *unused)
{
    ring_prepare();
    background_begun(&pool.thread);
    for (uint64_t next_ns = steady_ns() + FLUSH_NS; atomic_load(&pool.runs);) {
        ready_wait(next_ns);
        if (steady_ns() >=
            next_ns) { /* also while buffers become full: what another thread launches may be in none of them */
            pool.calls->flush(0);
            next_ns = steady_ns() + FLUSH_NS;
        }
        while (take_one()) {
        }
        graph_nodes_write();
    }
    while (take_one()) {
    }
    graph_nodes_write();
    return unused;
}

/* ---- for sessions ---- */

bool buffers_start(const struct cupti_calls *c, uint32_t version)
{
    if (!pool.memory) {
        void *const memory = mmap(NULL, (size_t)BUFFERS * BUFFER_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || sem_init(&pool.ready, 0, 0) != 0)
            return false;
        pool.memory = memory;
        atomic_store(&pool.empty, UINT64_MAX);
    }
    pool.calls = c;
    pool.version = version;
    atomic_store(&pool.n_dropped, 0);
    atomic_store(&pool.n_unusable, 0);
    atomic_store(&pool.keep_from_ns, UINT64_MAX); /* CUPTI is asked for records during a warm-up, too */
    names_forget();                               /* each session says its names */
    graph_nodes_begin();
    if (!pool.demangle)
        pool.demangle = demangler_find();
    atomic_store(&pool.runs, true);
    const bool is_well = background_start(&pool.thread, "ascope-cuda", thread_run, NULL) == 0;
    atomic_store(&pool.runs, is_well);
    return is_well;
}

void buffers_at_first(void (*call)(void))
{
    atomic_store(&pool.at_first, call);
}

void buffers_keep_from(uint64_t ns)
{
    atomic_store(&pool.keep_from_ns, ns);
}

struct buffer_losses buffers_stop(void)
{
    if (atomic_exchange(&pool.runs, false)) {
        sem_post(&pool.ready);
        background_stop(&pool.thread);
        dropped_ask(NULL, 0);
        for (uint32_t i = 0; i < BUFFERS; i++) /* give back the memory of empty buffers; CUPTI may still have others */
            if (atomic_load(&pool.empty) & UINT64_C(1) << i)
                madvise(pool.memory + (size_t)i * BUFFER_BYTES, BUFFER_BYTES, MADV_DONTNEED);
    }
    return (struct buffer_losses){ atomic_load(&pool.n_dropped), atomic_load(&pool.n_unusable) };
}

uint64_t buffers_devices(void)
{
    return atomic_load(&pool.devices);
}
