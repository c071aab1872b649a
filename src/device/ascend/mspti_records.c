/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ascend/mspti_records.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "collect/marks/mark_put.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/ring.h"
#include "collect/session/host_clock.h"
#include "collect/write/name_dictionary.h"
#include "raw/cuda_records.h"
#include "raw/name_hash.h"

enum { BUFFERS = 16, BUFFER_BYTES = 2 << 20 }; /* smaller ones lose records, says the vendor */
enum { WAITS = 100, WAIT_NS = 200000 };        /* for the writer, at most, before a record is dropped */

static struct {
    const struct mspti_calls *calls;
    uint8_t *memory;
    _Atomic uint32_t empty; /* a bit for each buffer; one that is not set is with MSPTI */
    _Atomic bool runs;
    void (*_Atomic at_first)(void);
    _Atomic uint64_t keep_from_ns, n_full, n_unusable, devices;
} pool;

/* ---- buffers ---- */

void mspti_wanted(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    uint32_t empty = atomic_load_explicit(&pool.empty, memory_order_relaxed);
    void (*const begins)(void) = atomic_exchange(&pool.at_first, NULL);
    if (begins)
        begins();
    *most_records = 0; /* as many as fit */
    *buffer = NULL;
    *bytes = 0;
    while (empty != 0) {
        const uint32_t first = empty & -empty;
        if (atomic_compare_exchange_weak_explicit(&pool.empty, &empty, empty & ~first, memory_order_acquire,
                                                  memory_order_relaxed)) { /* acquire: it was read to its end */
            *buffer = pool.memory + (size_t)__builtin_ctz(first) * BUFFER_BYTES;
            *bytes = BUFFER_BYTES;
            return;
        }
    }
    atomic_fetch_add(&pool.n_full, 1);
}

/* ---- layouts ---- */

/* What the kinds have, at the places of each: packed records, whose length the vendor never changes. */
enum {
    AT_BEGIN,
    AT_END,
    AT_DEVICE,
    AT_STREAM,
    AT_CORRELATION,
    AT_NAME, /* an address, as the next two */
    AT_TYPE, /* of a kernel; of a collective its group */
    AT_ALGORITHM,
    AT_BYTES,
    AT_CODE, /* of a copy its kind, of a collective the type of its elements, of a marker its flag */
    AT_SOURCE,
    AT_ID,
    AT_PLACES
};

static const struct layout layouts[] = {
    [MSPTI_MARKER] = { .name = "marker",
                       .size = 56,
                       .n = AT_PLACES,
                       .field = { [AT_CODE] = { 4, W32, "flag" },
                                  [AT_SOURCE] = { 8, W32, "source" },
                                  [AT_BEGIN] = { 12, W64, "time" },
                                  [AT_ID] = { 20, W64, "id" },
                                  [AT_STREAM] = { 32, W32, "thread" },
                                  [AT_NAME] = { 36, W64, "name" },
                                  [AT_TYPE] = { 44, W64, "domain" } } },
    [MSPTI_KERNEL] = { .name = "kernel",
                       .size = 56,
                       .n = AT_PLACES,
                       .field = { [AT_BEGIN] = { 4, W64, "start" },
                                  [AT_END] = { 12, W64, "end" },
                                  [AT_DEVICE] = { 20, W32, "device" },
                                  [AT_STREAM] = { 24, W32, "stream" },
                                  [AT_CORRELATION] = { 28, W64, "correlation" },
                                  [AT_TYPE] = { 36, W64, "type" },
                                  [AT_NAME] = { 44, W64, "name" } } },
    [MSPTI_API] = { .name = "api",
                    .size = 48,
                    .n = AT_PLACES,
                    .field = { [AT_BEGIN] = { 4, W64, "start" },
                               [AT_END] = { 12, W64, "end" },
                               [AT_STREAM] = { 24, W32, "thread" },
                               [AT_CORRELATION] = { 28, W64, "correlation" },
                               [AT_NAME] = { 36, W64, "name" } } },
    [MSPTI_HCCL] = { .name = "hccl",
                     .size = 56,
                     .n = AT_PLACES,
                     .field = { [AT_BEGIN] = { 4, W64, "start" },
                                [AT_END] = { 12, W64, "end" },
                                [AT_DEVICE] = { 20, W32, "device" },
                                [AT_STREAM] = { 24, W32, "stream" },
                                [AT_NAME] = { 36, W64, "name" },
                                [AT_TYPE] = { 44, W64, "group" } } },
    [MSPTI_MEMSET] = { .name = "memset",
                       .size = 56,
                       .n = AT_PLACES,
                       .field = { [AT_BYTES] = { 8, W64, "bytes" },
                                  [AT_BEGIN] = { 16, W64, "start" },
                                  [AT_END] = { 24, W64, "end" },
                                  [AT_DEVICE] = { 32, W32, "device" },
                                  [AT_STREAM] = { 36, W32, "stream" },
                                  [AT_CORRELATION] = { 40, W64, "correlation" } } },
    [MSPTI_MEMCPY] = { .name = "memcpy",
                       .size = 56,
                       .n = AT_PLACES,
                       .field = { [AT_CODE] = { 4, W32, "kind" },
                                  [AT_BYTES] = { 8, W64, "bytes" },
                                  [AT_BEGIN] = { 16, W64, "start" },
                                  [AT_END] = { 24, W64, "end" },
                                  [AT_DEVICE] = { 32, W32, "device" },
                                  [AT_STREAM] = { 36, W32, "stream" },
                                  [AT_CORRELATION] = { 40, W64, "correlation" } } },
    [MSPTI_COMMUNICATION] = { .name = "communication",
                              .size = 72,
                              .n = AT_PLACES,
                              .field = { [AT_CODE] = { 4, W32, "data_type" },
                                         [AT_BYTES] = { 8, W64, "count" },
                                         [AT_DEVICE] = { 16, W32, "device" },
                                         [AT_STREAM] = { 20, W32, "stream" },
                                         [AT_BEGIN] = { 24, W64, "start" },
                                         [AT_END] = { 32, W64, "end" },
                                         [AT_ALGORITHM] = { 40, W64, "algorithm" },
                                         [AT_NAME] = { 48, W64, "name" },
                                         [AT_TYPE] = { 56, W64, "group" },
                                         [AT_CORRELATION] = { 64, W64, "correlation" } } },
};

/* A record, and the kind that its first four bytes say. */
struct mspti_record {
    uint32_t kind;
    const uint8_t *at;
};

static uint64_t get(struct mspti_record r, unsigned place)
{
    const struct field *f = &layouts[r.kind].field[place];
    return f->width ? field_get(f, r.at) : 0;
}

static const char *text_of(struct mspti_record r, unsigned place)
{
    const uintptr_t address = (uintptr_t)get(r, place);
    const char *text = NULL;
    memcpy(&text, &address, sizeof text);
    return text && *text ? text : NULL;
}

/* The hash by which records name a text, which is written to the dictionary. 0: there is none. */
static uint64_t said(const char *text)
{
    enum { MOST = 4096 };
    if (!text)
        return 0;
    const size_t n = strnlen(text, MOST);
    const uint64_t hash = name_hash_of(text, n);
    names_say(hash, text, n);
    return hash;
}

/* ---- what becomes of records ---- */

static void wait_for_writer(void)
{
    for (int i = 0; i < WAITS && ring_is_short(); i++)
        nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
}

static void task_put(struct mspti_record r)
{
    static const uint8_t copy_kind[] = { 0, 9, 1, 2, 8 }; /* HtoH, HtoD, DtoH, DtoD as CUPTI numbers them */
    const uint64_t device = get(r, AT_DEVICE), begin = get(r, AT_BEGIN), code = get(r, AT_CODE);
    if (device >= MSPTI_DEVICES || begin == 0 || get(r, AT_END) < begin) {
        atomic_fetch_add(&pool.n_unusable, 1);
        return;
    }
    const bool is_copy = r.kind == MSPTI_MEMCPY;
    const uint64_t name = said(text_of(r, AT_NAME)), type = said(text_of(r, AT_TYPE)),
                   algorithm = said(text_of(r, AT_ALGORITHM));
    wait_for_writer();
    const struct layout *l = &cuda_task_layout;
    const struct ring_slot slot = ring_put(STREAM_CUDA, (unsigned)device, l->size);
    if (!slot.at)
        return;
    layout_init(l, slot.at);
    layout_put(l, CUDA_KIND, slot.at, is_copy ? CUDA_IS_COPY : r.kind == MSPTI_MEMSET ? CUDA_IS_SET : CUDA_IS_KERNEL);
    layout_put(l, CUDA_COPY_KIND, slot.at,
               is_copy                         ? copy_kind[code < sizeof copy_kind ? code : 0]
               : r.kind == MSPTI_COMMUNICATION ? (code < UINT8_MAX ? code : UINT8_MAX)
                                               : UINT8_MAX);
    layout_put(l, CUDA_CORRELATION, slot.at, (uint32_t)get(r, AT_CORRELATION));
    layout_put(l, CUDA_BEGIN, slot.at, begin);
    layout_put(l, CUDA_END, slot.at, get(r, AT_END));
    layout_put(l, CUDA_NAME, slot.at, name);
    layout_put(l, CUDA_BYTES, slot.at, get(r, AT_BYTES));
    layout_put(l, CUDA_STREAM, slot.at, get(r, AT_STREAM));
    layout_put(l, CUDA_GRAPH_NODE, slot.at, type);
    layout_put(l, CUDA_GRID_X, slot.at, (uint32_t)algorithm);
    layout_put(l, CUDA_GRID_Y, slot.at, algorithm >> 32);
    ring_done(slot);
    atomic_fetch_or_explicit(&pool.devices, UINT64_C(1) << device, memory_order_relaxed);
}

static uint64_t counter_at(uint64_t wall_ns, const struct clock_reading *now)
{
    return now->count - (uint64_t)((double)(int64_t)(now->wall_ns - wall_ns) * host_clock_first_mhz() / 1000);
}

static void call_put(struct mspti_record r, const struct clock_reading *now)
{
    enum { TYPE_MSPTI = 0x30000000, TYPE_MASK = 0xFFFFFF };
    const char *const name = text_of(r, AT_NAME);
    const uint64_t hash = name ? name_hash_of(name, strlen(name)) : 0;
    const uint32_t type = TYPE_MSPTI + (uint32_t)(hash & TYPE_MASK);
    ascope_type_name(LEVEL_RUNTIME, type, name ? name : "?");
    names_say_type(LEVEL_RUNTIME, type);
    wait_for_writer();
    const struct ring_slot slot = ring_put(STREAM_CALL, 0, sizeof(struct call_bytes));
    if (!slot.at)
        return;
    *(struct call_bytes *)slot.at = (struct call_bytes){
        .magic = HOST_MAGIC,
        .level = LEVEL_RUNTIME,
        .type = type,
        .thread = (uint32_t)get(r, AT_STREAM),
        .request = (uint32_t)get(r, AT_CORRELATION),
        .begin = counter_at(get(r, AT_BEGIN), now),
        .end = counter_at(get(r, AT_END), now),
    };
    ring_done(slot);
}

/* Ranges whose end MSPTI has not reported yet. */
enum { OPEN_RANGES = 1024, OPEN_TEXT = 256 };
static struct {
    pthread_mutex_t lock;
    struct mspti_range {
        uint64_t id, begin_ns;
        char domain[OPEN_TEXT], text[OPEN_TEXT];
    } at[OPEN_RANGES];
} ranges = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void mark_made(struct mspti_record r, const struct clock_reading *now)
{
    enum { INSTANT = 1, START = 2, END = 4, OF_DEVICE = 8, OF_HOST = 0 };
    const uint64_t flag = get(r, AT_CODE), time_ns = get(r, AT_BEGIN), id = get(r, AT_ID);
    const uint64_t what = flag >= OF_DEVICE ? flag / OF_DEVICE : flag; /* with a stamp of the device, too */
    const char *const text = text_of(r, AT_NAME), *const domain = text_of(r, AT_TYPE);
    if (get(r, AT_SOURCE) != OF_HOST)
        return; /* the device's stamp */
    struct mspti_range *const open = &ranges.at[id % OPEN_RANGES];
    pthread_mutex_lock(&ranges.lock);
    if (what == START) {
        *open = (struct mspti_range){ .id = id, .begin_ns = time_ns };
        snprintf(open->text, sizeof open->text, "%s", text ? text : "");
        snprintf(open->domain, sizeof open->domain, "%s", domain ? domain : "");
    }
    const bool is_whole = what == INSTANT || (what == END && open->id == id && open->begin_ns != 0);
    struct mspti_range made = { .begin_ns = time_ns };
    if (is_whole && what == END) {
        made = *open;
        open->begin_ns = 0;
    } else if (is_whole) {
        snprintf(made.text, sizeof made.text, "%s", text ? text : "");
        snprintf(made.domain, sizeof made.domain, "%s", domain ? domain : "");
    }
    pthread_mutex_unlock(&ranges.lock);
    if (!is_whole || made.begin_ns < atomic_load(&pool.keep_from_ns))
        return;
    const struct mark_seen seen = { .domain = made.domain,
                                    .message = made.text,
                                    .begin = counter_at(made.begin_ns, now),
                                    .end = counter_at(time_ns, now),
                                    .thread = (uint32_t)get(r, AT_STREAM),
                                    .is_range = what == END };
    mark_put_seen(&seen);
}

static void mspti_record_put(struct mspti_record r, const struct clock_reading *now)
{
    if (r.kind != MSPTI_MARKER && get(r, AT_BEGIN) < atomic_load_explicit(&pool.keep_from_ns, memory_order_relaxed))
        return;
    switch (r.kind) {
    case MSPTI_MARKER: mark_made(r, now); break;
    case MSPTI_API: call_put(r, now); break;
    default: task_put(r); break;
    }
}

static void mspti_buffer_read(uint8_t *buffer, size_t used)
{
    const struct clock_reading now = host_clock_read();
    uint8_t *record = NULL;
    int32_t code;
    while ((code = pool.calls->next_record(buffer, used, &record)) == 0 && record) {
        const size_t at = (size_t)(record - buffer), left = at < used ? used - at : 0;
        struct mspti_record r = { .at = record };
        if (left >= sizeof r.kind)
            memcpy(&r.kind, record, sizeof r.kind);
        const size_t size = r.kind < sizeof layouts / sizeof *layouts ? layouts[r.kind].size : 0;
        if (size > 0 && size <= left)
            mspti_record_put(r, &now);
        else if (size > 0 || left < sizeof r.kind)
            atomic_fetch_add(&pool.n_unusable, 1);
    }
    if (code != 0 && code != MSPTI_NO_MORE)
        atomic_fetch_add(&pool.n_unusable, 1);
}

void mspti_done(uint8_t *buffer, size_t bytes, size_t used)
{
    (void)bytes;
    const size_t offset = buffer ? (size_t)(buffer - pool.memory) : SIZE_MAX;
    if (!pool.memory || offset >= (size_t)BUFFERS * BUFFER_BYTES)
        return;
    if (used > 0 && used <= BUFFER_BYTES && atomic_load(&pool.runs))
        mspti_buffer_read(buffer, used);
    atomic_fetch_or_explicit(&pool.empty, UINT32_C(1) << offset / BUFFER_BYTES,
                             memory_order_release); /* reading it happens before its reuse */
}

/* ---- for sessions ---- */

bool mspti_records_start(const struct mspti_calls *c)
{
    if (!pool.memory) {
        void *const memory = mmap(NULL, (size_t)BUFFERS * BUFFER_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        pool.memory = memory;
        atomic_store(&pool.empty, (UINT32_C(1) << BUFFERS) - 1);
    }
    pool.calls = c;
    atomic_store(&pool.n_full, 0);
    atomic_store(&pool.n_unusable, 0);
    atomic_store(&pool.keep_from_ns, UINT64_MAX);
    atomic_store(&pool.runs, true);
    return true;
}

void mspti_at_first(void (*call)(void))
{
    atomic_store(&pool.at_first, call);
}

void mspti_keep_from(uint64_t wall_ns)
{
    atomic_store(&pool.keep_from_ns, wall_ns);
}

struct mspti_losses mspti_records_stop(void)
{
    atomic_store(&pool.runs, false);
    return (struct mspti_losses){ atomic_load(&pool.n_full), atomic_load(&pool.n_unusable) };
}

uint64_t mspti_devices(void)
{
    return atomic_load(&pool.devices);
}
