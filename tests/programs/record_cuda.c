/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses CUDA and records itself.
 *
 *     record_cuda PARENT WORD...
 *
 * Words: none (loads no CUDA), warmup (eleven kernels during it, one of which is long), kernels=N, copies=N, graph=N
 * (kernels of one graph), captures and captures-late (that graph, before the recording and in it), driver (a kernel by the driver's own function), compiled (a kernel by the function that
 * compilers call), stream=N (of the first kernels), peers=N (copies to the next GPU), steps=N (of a training: four
 * kernels of ns=N, a copy, collectives), crossing=NS (an all-reduce in the middle of each step, for which nothing
 * waits), gpus=N (kernels of each), samples=N (waits for so many of the last GPU), wait (for the kernels in the file),
 * threads (operators and kernels of two threads at once), blocks=N (of PyTorch's allocator, all but the last one given
 * back), nvtx (ranges and marks, by the tables that NVTX's headers have), nccl (collectives, one of them in a range of
 * marks), announced (collectives, by what a backend says of them), mallocs=N (of CUDA itself, the first one released;
 * and a pool), kill, exit, twice; else NAME=VALUE is an option. Prints messages and paths. */
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "ascope/ascope.h"
#include "ascope/nvtx.h"
#include "fake_cuda/fake_cuda.h"

static int n_words;
static char **words;
static fake_cuda_call *call;

static const char *value_of(const char *key)
{
    const size_t n = strlen(key);
    for (int i = 0; i < n_words; i++)
        if (strncmp(words[i], key, n) == 0 && (words[i][n] == '=' || !words[i][n]))
            return words[i] + n + (words[i][n] == '=');
    return NULL;
}

static unsigned number_of(const char *key)
{
    const char *const text = value_of(key);
    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static void print_message(enum ascope_severity severity, const char *text, void *user)
{
    (void)user;
    printf("%s: %s\n", severity == ASCOPE_INFO ? "note" : severity == ASCOPE_WARNING ? "warning" : "error", text);
    fflush(stdout);
}

static void load(void)
{
    static const char *const names[] = { "libcupti.so", "libcuda.so.1" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/lib64/%s", getenv("CUDA_HOME"), names[i]);
        void *const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (library && i == 0)
            *(void **)&call = dlsym(library, "fake_cuda");
    }
    if (!call)
        exit(3);
}

/* An operator with as many kernels as it is asked for. */
static void operator_run_on(uint32_t device, const char *name, const char *kernel, unsigned n, uint32_t stream)
{
    const struct fake_task task = {
        .name = kernel, .device = device, .stream = stream, .ns = 5000, .grid = { 16, 2, 1 }, .block = { 128, 1, 1 }
    };
    struct ascope_op op;
    ascope_op_begin(&op, name);
    for (unsigned i = 0; i < n; i++) {
        call(FAKE_QUESTION, &task, 0);
        call(FAKE_KERNEL, &task, 1);
    }
    ascope_op_end(&op);
}

static void operator_run(const char *name, const char *kernel, unsigned n, uint32_t stream)
{
    operator_run_on(0, name, kernel, n, stream);
}

static pthread_barrier_t meeting;

/* Two operators that overlap in time: each launches while both are open. */
static void *thread_run(void *at)
{
    const bool is_second = at != NULL;
    const struct fake_task task = { .name = is_second ? "second_kernel" : "first_kernel",
                                    .stream = is_second ? 8 : 7,
                                    .ns = 3000,
                                    .grid = { 1, 1, 1 },
                                    .block = { 32, 1, 1 } };
    struct ascope_op op;
    if (is_second)
        pthread_barrier_wait(&meeting); /* the first one is open */
    ascope_op_begin(&op, is_second ? "aten::second" : "aten::first");
    if (!is_second)
        pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting); /* both are */
    call(FAKE_KERNEL, &task, 1);
    pthread_barrier_wait(&meeting); /* both have launched */
    ascope_op_end(&op);
    return NULL;
}

static void threads_run(void)
{
    pthread_t second;
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_create(&second, NULL, thread_run, &meeting);
    thread_run(NULL);
    pthread_join(second, NULL);
}

/* As PyTorch's allocator reports them: what is in use afterwards, and what the pool has. */
static void blocks_take(unsigned n)
{
    enum { MIB = 1 << 20 };
    struct ascope_op op;
    struct ascope_memory m = {
        .size = sizeof m, .device_type = ASCOPE_ON_CUDA, .reserved_bytes = (int64_t)64 * MIB, .stream = 0
    };
    ascope_op_begin(&op, "aten::empty");
    for (unsigned i = 0; i < n; i++) {
        m.pointer = 0x7f0000000000 + (uint64_t)i * MIB;
        m.size_bytes = MIB;
        m.allocated_bytes += MIB;
        m.event = ASCOPE_MALLOC;
        ascope_memory(&m);
    }
    for (unsigned i = 0; i + 1 < n; i++) {
        m.pointer = 0x7f0000000000 + (uint64_t)i * MIB;
        m.size_bytes = -MIB;
        m.allocated_bytes -= MIB;
        m.event = ASCOPE_FREE;
        ascope_memory(&m);
    }
    ascope_op_end(&op);
}

/* As torch.distributed's call is marked; and a generic kernel, whose name does not say what it does. */
/* As PyTorch's backend announces them: one that its kernel does not say, one that it does, one of which the kernel is
 * another's. */
static void announced_run(void)
{
    static const struct {
        const char *name, *type, *kernel;
        uint64_t count;
    } all[] = {
        { "_allgather_base", "bf16", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 1000 },
        { "send", "fp32", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 250000 },
        { "_allgather_base", "bf16", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 500000 },
        { "_reduce_scatter_base", "fp32", "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 77 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct fake_task task = {
            .name = all[i].kernel, .stream = 20, .ns = 50000, .grid = { 2, 1, 1 }, .block = { 512, 1, 1 }
        };
        const struct ascope_collective c = { .size = sizeof c,
                                             .name = all[i].name,
                                             .group = "group_name_7",
                                             .data_type = all[i].type,
                                             .count = all[i].count,
                                             .source_rank = -1,
                                             .destination_rank = -1 };
        ascope_collective_launch(&c);
        call(FAKE_KERNEL, &task, 1);
    }
}

/* What a step does: its kernels one after the other, each as long as the program waits, and collectives. */
static void steps_run(void)
{
    for (unsigned step = 0, n = number_of("steps"); step < n; step++) {
        const uint32_t ns = number_of("ns") * (step + 1 == n ? 3 : 1); /* the last one is slow */
        char name[32];
        struct ascope_op op;
        snprintf(name, sizeof name, "ProfilerStep#%u", step);
        ascope_op_begin(&op, name);
        for (unsigned i = 0; i < 4; i++) {
            const struct fake_task task = {
                .name = "step_kernel", .stream = 7, .ns = ns, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }
            };
            struct ascope_op of_kernel;
            ascope_op_begin(&of_kernel, "aten::mm");
            call(FAKE_KERNEL, &task, 1);
            ascope_op_end(&of_kernel);
            usleep(ns / 1000);
            if (i == 1 && value_of("crossing")) {
                const struct fake_task all_reduce = {
                    .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                    .stream = 21,
                    .ns = number_of("crossing"),
                    .grid = { 2, 1, 1 },
                    .block = { 512, 1, 1 }
                };
                call(FAKE_KERNEL, &all_reduce, 1);
            }
        }
        const struct fake_task copy = { .stream = 8, .bytes = 1 << 20, .ns = 500000 };
        call(FAKE_COPY, &copy, 1);
        usleep(600);
        announced_run();
        usleep(100);
        ascope_op_end(&op);
    }
}

static void collectives_run(void)
{
    static const char sum[] = "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
                      generic[] = "_Z23ncclDevKernel_Generic_424ncclDevKernelArgsStorageILm4096EE";
    struct fake_task task = { .name = sum, .stream = 20, .ns = 50000, .grid = { 2, 1, 1 }, .block = { 512, 1, 1 } };
    const struct ascope_collective all = { .size = sizeof all,
                                           .name = "c10d::gather",
                                           .group = "tp",
                                           .data_type = "fp16",
                                           .count = 4096,
                                           .source_rank = -1,
                                           .destination_rank = -1 };
    call(FAKE_KERNEL, &task, 1);
    const uint64_t range = ascope_collective_begin(&all, NULL);
    task.name = generic;
    call(FAKE_KERNEL, &task, 1);
    ascope_range_end(ascope_domain_get(ASCOPE_COLLECTIVES), range);
}

/* ---- NVTX as its headers have it: tables of functions that are nothing until a tool has filled them ---- */

typedef void function(void);
enum { NVTX_SLOTS = 16, NVTX_CORE = 1, NVTX_DOMAINS = 5 };
static function *nvtx[NVTX_DOMAINS + 1][NVTX_SLOTS], **nvtx_table[NVTX_DOMAINS + 1][NVTX_SLOTS];

static int nvtx_module(int module, function ****table, unsigned *size)
{
    if (module != NVTX_CORE && module != NVTX_DOMAINS)
        return 0;
    for (unsigned i = 1; i < NVTX_SLOTS; i++)
        nvtx_table[module][i] = &nvtx[module][i];
    *table = nvtx_table[module];
    *size = NVTX_SLOTS;
    return 1;
}

static const void *nvtx_export(uint32_t id)
{
    static const struct {
        size_t size;
        int (*module)(int module, function ****table, unsigned *size);
    } callbacks = { sizeof callbacks, nvtx_module };
    return id == 1 ? &callbacks : NULL;
}

struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

static void nvtx_run(void)
{
    enum { REGISTERED = 3 };
    if (InitializeInjectionNvtx2(nvtx_export) != 1 || InitializeInjectionNvtx2(NULL) != 0)
        exit(4);
    int (*const push)(const char *) = (int (*)(const char *))nvtx[NVTX_CORE][9],
                                 (*const pop)(void) = (int (*)(void))nvtx[NVTX_CORE][11];
    void (*const mark)(const wchar_t *) = (void (*)(const wchar_t *))nvtx[NVTX_CORE][3];
    const void *const domain = ((void *(*)(const char *))nvtx[NVTX_DOMAINS][12])("io");
    const void *const text = ((const void *(*)(const void *, const char *))nvtx[NVTX_DOMAINS][10])(domain, "load");
    const struct nvtx_attributes load = {
        .version = 3, .size = sizeof load, .message_type = REGISTERED, .message = text
    };
    const int depth[] = { push("outer"), push("@inner") };
    const uint64_t id = ((uint64_t(*)(const void *, const void *))nvtx[NVTX_DOMAINS][2])(domain, &load);
    mark(L"gr\u00fc\u00df");
    const int left[] = { pop(), pop(), pop() };
    ((void (*)(const void *, uint64_t))nvtx[NVTX_DOMAINS][3])(domain, id);
    printf("nvtx: %d %d %d %d %d\n", depth[0], depth[1], left[0], left[1], left[2]);
}

static void memory_take(unsigned n)
{
    const struct fake_task task = { .stream = 7, .bytes = 1 << 20 };
    call(FAKE_FREE, &task, 99); /* of what was there before */
    for (unsigned i = 0; i < n; i++)
        call(FAKE_MALLOC, &task, i);
    call(FAKE_FREE, &task, 0);
    call(FAKE_POOL_MALLOC, &task, n);
    call(FAKE_POOL_TRIM, &task, 0);
}

#define TEXT(literal) ((struct ascope_text){ (literal), sizeof(literal) - 1 })

/* A graph of one node, as the front end watches it. */
static void graph_capture(void)
{
    const struct ascope_graph_op outer = { .size = sizeof outer, .name = TEXT("aten::linear") },
                                 op = { .size = sizeof op,
                                        .name = TEXT("aten::addmm"),
                                        .types = TEXT("float;float"),
                                        .shapes = TEXT("8;8,4"),
                                        .stack = TEXT("model.py(7): forward;serve.py(3): main"),
                                        .modules = TEXT("Model.layers.0") };
    const bool is_watched = ascope_graph_watch_begin();
    const uint32_t first = ascope_graph_op_begin(&outer), second = ascope_graph_op_begin(&op);
    call(FAKE_CAPTURE, NULL, 1);
    ascope_graph_op_end(second);
    ascope_graph_op_end(first);
    if (is_watched)
        ascope_graph_watch_end();
    printf("watched: %d\n", is_watched);
}

static void work(void)
{
    const struct fake_task copy = { .stream = 7, .bytes = 1 << 20, .ns = 20000 }, graph = {
        .name = "graph_kernel", .stream = 9, .ns = 1000, .grid = { 1, 1, 1 }, .block = { 64, 1, 1 }
    };
    operator_run("aten::mul", "_Z9mulKernelIfEvPT_i", number_of("kernels"),
                 value_of("stream") ? number_of("stream") : 7);
    for (unsigned device = 1; device < number_of("gpus"); device++)
        operator_run_on(device, "aten::add", "add_kernel", number_of("kernels"), 7);
    for (unsigned i = 0; i < number_of("copies"); i++) {
        call(FAKE_COPY, &copy, 1);
        call(FAKE_SET, &copy, 1);
    }
    if (value_of("captures-late"))
        graph_capture();
    if (value_of("graph"))
        call(FAKE_GRAPH, &graph, number_of("graph"));
    if (value_of("driver"))
        call(FAKE_DRIVER_KERNEL, &graph, 1);
    if (value_of("compiled"))
        call(FAKE_COMPILED_KERNEL, &graph, 1);
    for (unsigned i = 0; i < number_of("peers"); i++)
        call(FAKE_PEER_COPY, &copy, 1);
    if (value_of("threads"))
        threads_run();
    if (value_of("nvtx"))
        nvtx_run();
    if (value_of("nccl"))
        collectives_run();
    if (value_of("announced"))
        announced_run();
    steps_run();
    if (value_of("mallocs"))
        memory_take(number_of("mallocs"));
    if (value_of("blocks"))
        blocks_take(number_of("blocks"));
    call(FAKE_WAIT, &copy, 0);
}

/* Until so many bytes are in a file of a device: the recorder asks for them now and then. */
static void wait_for_file(const char *path, unsigned device, const char *family, size_t bytes)
{
    enum { TRIES = 3000, PAUSE_US = 10000 };
    char pattern[4200];
    snprintf(pattern, sizeof pattern, "%s/{PROF_*/,}device_%u/data/%s.*slice_0", path, device, family);
    for (int i = 0; i < TRIES; i++) {
        struct stat st = { 0 };
        glob_t found = { 0 };
        const bool is_there = glob(pattern, GLOB_BRACE, NULL, &found) == 0 && stat(found.gl_pathv[0], &st) == 0 &&
                              st.st_size >= (off_t)bytes;
        globfree(&found);
        if (is_there)
            break;
        usleep(PAUSE_US);
    }
}

static int record(const char *parent)
{
    static const char *const own[] = { "none",     "warmup",        "kernels",  "copies", "graph",   "driver",
                                       "threads",  "blocks",        "nccl",     "nvtx",   "mallocs", "kill",
                                       "captures", "captures-late", "exit",     "twice",  "gpus",    "samples",
                                       "wait",     "announced",     "compiled", "stream", "peers",   "steps",
                                       "ns",       "crossing" };
    enum { RECORD_BYTES = 112, SAMPLE_BYTES = 80 };
    struct ascope_options o;
    struct ascope_error e = { 0 };
    ascope_options_init(&o);
    ascope_options_set(&o, "parent_dir", parent);
    for (int i = 0; i < n_words; i++) {
        char name[100];
        const size_t n = strcspn(words[i], "=");
        bool is_own = false;
        snprintf(name, sizeof name, "%.*s", (int)n, words[i]);
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            is_own |= strcmp(name, own[k]) == 0;
        if (!is_own && !ascope_options_set(&o, name, words[i] + n + 1))
            return 2;
    }
    struct ascope_session *s = ascope_session_new(&o, &e);
    const bool is_warm = s && (!value_of("warmup") || ascope_session_warmup(s, &e));
    if (is_warm && value_of("warmup")) {
        const struct fake_task long_one = { .name = "warm_kernel", .stream = 8, .ns = 1000000000 };
        operator_run("aten::warm", "warm_kernel", 10, 7);
        call(FAKE_KERNEL, &long_one, 1); /* it runs when the recording begins */
    }
    if (!is_warm || !ascope_session_start(s, &e)) {
        printf("failed: %s\n", e.text);
        ascope_session_discard(s);
        return 1;
    }
    printf("path: %s\n", ascope_session_path(s));
    fflush(stdout);
    if (call)
        work();
    if (value_of("samples"))
        wait_for_file(ascope_session_path(s), value_of("gpus") ? number_of("gpus") - 1 : 0, "ascope_gpu.data",
                      (size_t)SAMPLE_BYTES * number_of("samples"));
    if (value_of("kill") || value_of("wait"))
        wait_for_file(ascope_session_path(s), 0, "ascope_cuda.data", (size_t)RECORD_BYTES * number_of("kernels"));
    if (value_of("kill"))
        raise(SIGKILL);
    if (value_of("exit"))
        exit(0);
    if (!ascope_session_stop(s, &e) || !ascope_session_end(s, &e)) {
        printf("failed: %s\n", e.text);
        return 1;
    }
    if (call)
        operator_run("aten::after", "after_kernel", 3, 7);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    words = argv + 2;
    n_words = argc - 2;
    ascope_on_message(print_message, NULL);
    if (!value_of("none"))
        load();
    if (value_of("captures"))
        graph_capture();
    int code = record(argv[1]);
    if (code == 0 && value_of("twice"))
        code = record(argv[1]);
    return code;
}
