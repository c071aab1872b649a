/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI and CUDA's driver as a test wants them: the same names and arguments, records of several versions, and trouble
 * on request.
 *
 * One source for both; each is built with the name of its part defined (FAKE_CUPTI, FAKE_DRIVER).
 *
 *     FAKE_CUDA          words with spaces between them:
 *       version=N        of CUPTI (130001); sizes of its records follow from it
 *       devices=N        what the driver has (1)
 *       active=N         the one that the program has a context of (0)
 *       error=CALL:CODE  what that function returns
 *       hang=CALL        that function does not return
 *       crash=CALL       that function ends the process by SIGSEGV
 *       dropped=N        records that CUPTI reports as dropped, once
 *       starved          CUPTI asks for a buffer for each record, and drops what it gets none for
 *       untimed=N        so many kernels have no times
 *       backwards        kernels end before they begin
 *       strange          before each kernel there is a record of a kind that nobody knows
 *       cut              the last record of each buffer is not complete
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_cuda.h"
#include "fake_words.h"

#ifdef FAKE_DRIVER
EXPORTED int32_t cuDeviceGetCount(int32_t *n);
EXPORTED int32_t cuDeviceGetName(char *name, int32_t bytes, int32_t device);
EXPORTED int32_t cuDeviceGetAttribute(int32_t *value, int32_t attribute, int32_t device);
EXPORTED int32_t cuInit(unsigned flags);
EXPORTED int32_t cuDeviceGetPCIBusId(char *bus, int32_t bytes, int32_t device);
EXPORTED int32_t cuDevicePrimaryCtxGetState(int32_t device, uint32_t *flags, int32_t *is_active);

static _Atomic bool is_in_init;
static pthread_t in_init;

/* While it is initialised it answers nobody: not the thread that does so, and the others wait. */
static void init_wait(void)
{
    if (is_in_init && pthread_equal(in_init, pthread_self()))
        abort();
    while (is_in_init)
        usleep(1000);
}

/* At exit the driver is gone, and CUPTI has no more records; it is another library, so the environment says so. */
static void end(void)
{
    setenv("FAKE_CUDA_ENDED", "1", 1);
}

int32_t cuInit(unsigned flags)
{
    (void)flags;
    const char *const path = getenv("CUDA_INJECTION64_PATH");
    void *const library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*initialize)(void) = NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjection");
    in_init = pthread_self();
    is_in_init = true;
    unsetenv("FAKE_CUDA_ENDED");
    const int is_well = initialize ? initialize() : 1;
    is_in_init = false;
    atexit(end); /* behind what the library has registered */
    return is_well ? 0 : 999;
}

int32_t cuDeviceGetCount(int32_t *n)
{
    init_wait();
    *n = (int32_t)number("devices", 1);
    return result("cuDeviceGetCount");
}

int32_t cuDeviceGetName(char *name, int32_t bytes, int32_t device)
{
    snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    return result("cuDeviceGetName");
}

int32_t cuDeviceGetAttribute(int32_t *value, int32_t attribute, int32_t device)
{
    static const struct {
        int32_t attribute, value;
    } known[] = { { 10, 32 },     { 13, 1980000 }, { 16, 132 }, { 39, 2048 },  { 75, 9 },
                  { 81, 233472 }, { 82, 65536 },   { 106, 32 }, { 111, 1024 }, { 76, 0 } };
    (void)device;
    *value = 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute)
            *value = known[i].value;
    return result("cuDeviceGetAttribute");
}

int32_t cuDeviceGetPCIBusId(char *bus, int32_t bytes, int32_t device)
{
    init_wait();
    snprintf(bus, (size_t)bytes, "0000:%02X:00.0", FAKE_BUS + device);
    return result("cuDeviceGetPCIBusId");
}

int32_t cuDevicePrimaryCtxGetState(int32_t device, uint32_t *flags, int32_t *is_active)
{
    init_wait();
    *flags = 0;
    *is_active = device == (int32_t)number("active", 0);
    return result("cuDevicePrimaryCtxGetState");
}
#endif

#ifdef FAKE_CUPTI
struct call_data {
    int32_t site;
    const char *function;
    const void *arguments;
    void *returned;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *shared;
    uint32_t correlation;
};
enum { DRIVER = 1, RUNTIME = 2, RESOURCE = 3, IDS = 600, KINDS = 64 };
enum { CREATED = 13, CLONED = 20, NODE = 601, COPY_OF_NODE = 701 };
enum { MEMCPY = 1, MEMSET = 2, KERNEL = 10, PEER = 22, MEMORY = 49, POOL = 50, STRANGE = 63 };

static const struct {
    int32_t domain;
    uint32_t id;
    const char *name;
} functions[] = {
    [FAKE_KERNEL] = { RUNTIME, 211, "cudaLaunchKernel_v7000" },
    [FAKE_COPY] = { RUNTIME, 41, "cudaMemcpyAsync_v3020" },
    [FAKE_SET] = { RUNTIME, 51, "cudaMemsetAsync_v3020" },
    [FAKE_GRAPH] = { RUNTIME, 311, "cudaGraphLaunch_v10000" },
    [FAKE_WAIT] = { RUNTIME, 131, "cudaStreamSynchronize_v3020" },
    [FAKE_QUESTION] = { RUNTIME, 17, "cudaGetDevice_v3020" },
    [FAKE_DRIVER_KERNEL] = { DRIVER, 307, "cuLaunchKernel" },
    [FAKE_MALLOC] = { RUNTIME, 20, "cudaMalloc_v3020" },
    [FAKE_FREE] = { RUNTIME, 22, "cudaFree_v3020" },
    [FAKE_POOL_MALLOC] = { RUNTIME, 390, "cudaMallocAsync_v11020" },
    [FAKE_POOL_TRIM] = { RUNTIME, 391, "cudaMemPoolTrimTo_v11020" },
    [FAKE_PEER_COPY] = { RUNTIME, 41, "cudaMemcpyAsync_v3020" },
    [FAKE_CAPTURE] = { RUNTIME, 0, "" },
    [FAKE_COMPILED_KERNEL] = { RUNTIME, 505, "__cudaLaunchKernel_v13000" },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static struct {
    pthread_mutex_t lock;
    void (*callback)(void *user, int32_t domain, uint32_t id, const struct call_data *call);
    bool is_enabled[RESOURCE + 1][IDS], records[KINDS];
    void (*wanted)(uint8_t **buffer, size_t *bytes, size_t *most);
    void (*done)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used);
    uint8_t *buffer;
    size_t bytes, used, n_dropped, n_untimed;
    uint32_t correlation;
    bool has_reported;
} cupti = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + 5000000000;
}

/* ---- records ---- */

/* As the vendor's headers have them; each up to the next row of its kind. */
static size_t size_of(uint32_t kind)
{
    static const struct {
        uint32_t kind, since;
        size_t bytes;
    } of[] = {
        { KERNEL, 0, 144 },   { KERNEL, 13, 160 },     { KERNEL, 15, 168 }, { KERNEL, 17, 176 }, { KERNEL, 18, 200 },
        { KERNEL, 19, 208 },  { KERNEL, 130000, 216 }, { MEMCPY, 0, 64 },   { MEMCPY, 13, 72 },  { MEMCPY, 14, 80 },
        { MEMCPY, 17, 88 },   { MEMCPY, 26, 96 },      { MEMSET, 0, 64 },   { MEMSET, 13, 72 },  { MEMSET, 14, 80 },
        { MEMSET, 17, 88 },   { PEER, 0, 72 },         { PEER, 13, 80 },    { PEER, 14, 88 },    { PEER, 17, 96 },
        { MEMORY, 15, 112 },  { MEMORY, 17, 120 },     { MEMORY, 24, 128 }, { POOL, 15, 64 },    { POOL, 17, 72 },
        { POOL, 130000, 80 }, { STRANGE, 0, 48 },
    };
    const unsigned long version = number("version", 130001);
    size_t bytes = 8;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (of[i].kind == kind && version >= of[i].since)
            bytes = of[i].bytes;
    return bytes;
}

static void give_back(void)
{
    uint8_t *const buffer = cupti.buffer;
    if (!buffer)
        return;
    cupti.buffer = NULL;
    cupti.done(NULL, 0, buffer, cupti.bytes, cupti.used - (word("cut") ? 64 : 0));
}

/* Room for a record, all bits set where this version's record ends: whoever reads behind it sees that. NULL: dropped. */
static uint8_t *record_take(uint32_t kind)
{
    const size_t n = size_of(kind);
    if (cupti.buffer && (cupti.bytes - cupti.used < n + 64 || (word("starved") && kind != STRANGE)))
        give_back();
    if (!cupti.buffer) {
        size_t most;
        cupti.wanted(&cupti.buffer, &cupti.bytes, &most);
        cupti.used = 0;
    }
    if (!cupti.buffer) {
        cupti.n_dropped++;
        return NULL;
    }
    uint8_t *const at = cupti.buffer + cupti.used;
    memset(at, 0, n);
    memset(at + n, 0xFF, 64);
    memcpy(at, &kind, 4);
    cupti.used += n;
    return at;
}

#define PUT(at, value)                                                                                                 \
    do {                                                                                                               \
        __typeof__(value) put_value = (value);                                                                         \
        memcpy(at, &put_value, sizeof put_value);                                                                      \
    } while (0)

static void kernel_put(const struct fake_task *t, uint32_t correlation, uint32_t graph)
{
    if (word("strange"))
        record_take(STRANGE);
    uint8_t *const at = record_take(KERNEL);
    if (!at)
        return;
    const uint64_t begin = now_ns();
    const bool is_timed = cupti.n_untimed >= number("untimed", 0);
    cupti.n_untimed += !is_timed;
    PUT(at + 6, (uint16_t)40);
    PUT(at + 16, is_timed ? begin : 0);
    PUT(at + 24, is_timed ? word("backwards") ? begin - 1 : begin + t->ns : 0);
    PUT(at + 40, t->device);
    PUT(at + 44, (uint32_t)1);
    PUT(at + 48, t->stream);
    memcpy(at + 52, t->grid, 12);
    memcpy(at + 64, t->block, 12);
    PUT(at + 76, (uint32_t)1024);
    PUT(at + 80, (uint32_t)2048);
    PUT(at + 92, correlation);
    PUT(at + 104, t->name);
    if (graph && number("version", 130001) >= 13)
        PUT(at + 144, (uint64_t)COPY_OF_NODE);
    if (graph && number("version", 130001) >= 14)
        PUT(at + 156, graph);
}

static void copy_put(const struct fake_task *t, uint32_t correlation, bool is_set)
{
    uint8_t *const at = record_take(is_set ? MEMSET : MEMCPY);
    if (!at)
        return;
    const uint64_t begin = now_ns();
    if (is_set)
        PUT(at + 50, (uint16_t)3);
    else
        memcpy(at + 4, "\1\2\3", 3); /* HtoD, pinned, device */
    PUT(at + 8, t->bytes);
    PUT(at + 16, begin);
    PUT(at + 24, begin + t->ns);
    PUT(at + 32, t->device);
    PUT(at + 36, (uint32_t)1);
    PUT(at + 40, t->stream);
    PUT(at + 44, correlation);
}

/* To the next device. */
static void peer_copy_put(const struct fake_task *t, uint32_t correlation)
{
    uint8_t *const at = record_take(PEER);
    if (!at)
        return;
    const uint64_t begin = now_ns();
    memcpy(at + 4, "\12\3\3", 3); /* PtoP, device, device */
    PUT(at + 8, t->bytes);
    PUT(at + 16, begin);
    PUT(at + 24, begin + t->ns);
    PUT(at + 32, t->device);
    PUT(at + 36, (uint32_t)1);
    PUT(at + 40, t->stream);
    PUT(at + 44, t->device);
    PUT(at + 52, t->device + 1);
    PUT(at + 60, correlation);
}

enum { POOL_ADDRESS = 0x5000, POOL_BYTES = 32 << 20, POOL_USED = 8 << 20 };

static void memory_put(const struct fake_task *t, enum fake_call call, uint32_t correlation, uint64_t block)
{
    uint8_t *const at = record_take(MEMORY);
    if (!at)
        return;
    PUT(at + 4, (uint32_t)(call == FAKE_FREE ? 2 : 1));
    PUT(at + 8, (uint32_t)3);
    PUT(at + 12, correlation);
    PUT(at + 16, (uint64_t)0x7000000000 + block * 0x1000000);
    PUT(at + 24, t->bytes);
    PUT(at + 32, now_ns());
    PUT(at + 52, t->device);
    PUT(at + 56, (uint32_t)1);
    PUT(at + 60, call == FAKE_POOL_MALLOC ? t->stream : UINT32_MAX);
    if (call == FAKE_POOL_MALLOC) {
        PUT(at + 80, (uint32_t)1);
        PUT(at + 88, (uint64_t)POOL_ADDRESS);
        PUT(at + 104, (uint64_t)POOL_BYTES);
        if (size_of(MEMORY) >= 120)
            PUT(at + 112, (uint64_t)POOL_USED);
    }
}

static void pool_put(const struct fake_task *t, uint32_t correlation)
{
    uint8_t *const at = record_take(POOL);
    if (!at)
        return;
    PUT(at + 4, (uint32_t)3); /* trimmed */
    PUT(at + 8, (uint32_t)1);
    PUT(at + 12, correlation);
    PUT(at + 20, t->device);
    PUT(at + 24, t->bytes);
    PUT(at + 32, (uint64_t)POOL_ADDRESS);
    PUT(at + 40, (uint64_t)POOL_BYTES / 2);
    PUT(at + 56, now_ns());
    if (size_of(POOL) >= 72)
        PUT(at + 64, (uint64_t)POOL_USED);
}

/* What a call leaves in CUPTI's buffer. */
static void leave_record(enum fake_call call, const struct fake_task *task, uint32_t correlation, unsigned n)
{
    const bool is_kernel =
        call == FAKE_KERNEL || call == FAKE_GRAPH || call == FAKE_DRIVER_KERNEL || call == FAKE_COMPILED_KERNEL;
    const bool is_memory = call == FAKE_MALLOC || call == FAKE_FREE || call == FAKE_POOL_MALLOC;
    if (is_memory && cupti.records[MEMORY])
        memory_put(task, call, correlation, n);
    if (call == FAKE_POOL_TRIM && cupti.records[POOL])
        pool_put(task, correlation);
    for (unsigned i = 0; i < n; i++) {
        if (is_kernel && cupti.records[KERNEL])
            kernel_put(task, correlation, call == FAKE_GRAPH ? 7 : 0);
        else if (call == FAKE_COPY && cupti.records[MEMCPY])
            copy_put(task, correlation, false);
        else if (call == FAKE_PEER_COPY && cupti.records[PEER])
            peer_copy_put(task, correlation);
        else if (call == FAKE_SET && cupti.records[MEMSET])
            copy_put(task, correlation, true);
    }
}

/* ---- calls of the program ---- */

static void call_out(enum fake_call call, int32_t site, uint64_t *shared, uint32_t correlation)
{
    const struct call_data data = {
        .site = site, .function = functions[call].name, .shared = shared, .correlation = correlation
    };
    if (cupti.callback && cupti.is_enabled[functions[call].domain][functions[call].id])
        cupti.callback(NULL, functions[call].domain, functions[call].id, &data);
}

static void node_out(uint32_t callback, uintptr_t node, uintptr_t of)
{
    const uintptr_t graph[] = { 1, 2, node, of, 0 }, *const resource[] = { NULL, NULL, graph };
    if (cupti.callback && cupti.is_enabled[RESOURCE][callback])
        cupti.callback(NULL, RESOURCE, callback, (const struct call_data *)(const void *)resource);
}

EXPORTED fake_cuda_call fake_cuda;
void fake_cuda(enum fake_call call, const struct fake_task *task, unsigned n)
{
    uint64_t shared = 0, inner = 0;
    if (call == FAKE_CAPTURE) {
        node_out(CREATED, NODE, 0);
        node_out(CREATED, COPY_OF_NODE, 0);
        node_out(CLONED, COPY_OF_NODE, NODE);
        return;
    }
    pthread_mutex_lock(&cupti.lock);
    const uint32_t correlation = ++cupti.correlation;
    pthread_mutex_unlock(&cupti.lock);
    const bool is_of_driver =
        call == FAKE_KERNEL || call == FAKE_COMPILED_KERNEL; /* the runtime makes one of the driver */
    call_out(call, 0, &shared, correlation);
    if (is_of_driver)
        call_out(FAKE_DRIVER_KERNEL, 0, &inner, correlation);
    pthread_mutex_lock(&cupti.lock);
    leave_record(call, task, correlation, n);
    pthread_mutex_unlock(&cupti.lock);
    if (is_of_driver)
        call_out(FAKE_DRIVER_KERNEL, 1, &inner, correlation);
    call_out(call, 1, &shared, correlation);
}

/* ---- CUPTI ---- */

EXPORTED int32_t cuptiGetVersion(uint32_t *version);
EXPORTED int32_t cuptiGetTimestamp(uint64_t *ns);
EXPORTED int32_t cuptiSubscribe(void **subscriber, void *callback, void *user);
EXPORTED int32_t cuptiUnsubscribe(void *subscriber);
EXPORTED int32_t cuptiEnableCallback(uint32_t is_on, void *subscriber, int32_t domain, uint32_t id);
EXPORTED int32_t cuptiGetCallbackName(int32_t domain, uint32_t id, const char **name);
EXPORTED int32_t cuptiActivityRegisterCallbacks(void *wanted, void *done);
EXPORTED int32_t cuptiActivityEnable(int32_t kind);
EXPORTED int32_t cuptiActivityDisable(int32_t kind);
EXPORTED int32_t cuptiActivityFlushAll(uint32_t is_forced);
EXPORTED int32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, uint8_t **record);
EXPORTED int32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
EXPORTED int32_t cuptiGetResultString(int32_t code, const char **text);
EXPORTED int32_t cuptiFinalize(void);
EXPORTED int32_t cuptiGetGraphNodeId(void *node, uint64_t *id);

int32_t cuptiGetGraphNodeId(void *node, uint64_t *id)
{
    *id = (uintptr_t)node;
    return result("cuptiGetGraphNodeId");
}

int32_t cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)number("version", 130001);
    return result("cuptiGetVersion");
}

int32_t cuptiGetResultString(int32_t code, const char **text)
{
    *text = code == 999 ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR";
    return 0;
}

int32_t cuptiGetTimestamp(uint64_t *ns)
{
    *ns = now_ns();
    return result("cuptiGetTimestamp");
}

int32_t cuptiSubscribe(void **subscriber, void *callback, void *user)
{
    (void)user;
    const int32_t code = result("cuptiSubscribe");
    if (code != 0)
        return code;
    if (cupti.callback)
        return 39;
    memcpy(&cupti.callback, &callback, sizeof callback);
    *subscriber = &cupti;
    return 0;
}

int32_t cuptiUnsubscribe(void *subscriber)
{
    (void)subscriber;
    cupti.callback = NULL;
    return result("cuptiUnsubscribe");
}

int32_t cuptiEnableCallback(uint32_t is_on, void *subscriber, int32_t domain, uint32_t id)
{
    (void)subscriber;
    if (domain < 0 || domain > RESOURCE || id >= IDS)
        abort(); /* CUPTI says that there is no such callback; nobody should ask for one */
    cupti.is_enabled[domain][id] = is_on;
    return result("cuptiEnableCallback");
}

int32_t cuptiGetCallbackName(int32_t domain, uint32_t id, const char **name)
{
    const int32_t code = result("cuptiGetCallbackName");
    if (code != 0)
        return code;
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (functions[i].domain == domain && functions[i].id == id) {
            *name = functions[i].name;
            return 0;
        }
    return 1;
}

int32_t cuptiActivityRegisterCallbacks(void *wanted, void *done)
{
    memcpy(&cupti.wanted, &wanted, sizeof wanted);
    memcpy(&cupti.done, &done, sizeof done);
    return result("cuptiActivityRegisterCallbacks");
}

int32_t cuptiActivityEnable(int32_t kind)
{
    if (kind >= MEMORY && number("version", 130001) < 15)
        return 21; /* no such kind */
    cupti.records[kind] = true;
    return result("cuptiActivityEnable");
}

int32_t cuptiActivityDisable(int32_t kind)
{
    cupti.records[kind] = false;
    return result("cuptiActivityDisable");
}

EXPORTED _Atomic uint32_t fake_cuda_flushes; /* how often it was asked */

int32_t cuptiActivityFlushAll(uint32_t is_forced)
{
    fake_cuda_flushes++;
    const int32_t code = is_forced ? result("cuptiActivityFlushAll") : 0; /* what is asked for now and then goes well */
    pthread_mutex_lock(&cupti.lock);
    if (!getenv("FAKE_CUDA_ENDED"))
        give_back();
    pthread_mutex_unlock(&cupti.lock);
    return code;
}

int32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, uint8_t **record)
{
    uint32_t kind = 0;
    const int32_t code = result("cuptiActivityGetNextRecord");
    if (code != 0)
        return code;
    if (*record)
        memcpy(&kind, *record, 4);
    uint8_t *const next = *record ? *record + size_of(kind) : buffer;
    if ((size_t)(next - buffer) >= used)
        return 12; /* there are no more */
    *record = next;
    return 0;
}

int32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
    (void)context, (void)stream;
    *n = cupti.n_dropped + (cupti.has_reported ? 0 : number("dropped", 0));
    cupti.n_dropped = 0;
    cupti.has_reported = true;
    return result("cuptiActivityGetNumDroppedRecords");
}

/* Everything that was set is gone. */
int32_t cuptiFinalize(void)
{
    cupti.callback = NULL;
    memset(cupti.is_enabled, 0, sizeof cupti.is_enabled);
    memset(cupti.records, 0, sizeof cupti.records);
    cupti.wanted = NULL;
    cupti.done = NULL;
    return result("cuptiFinalize");
}
#endif
