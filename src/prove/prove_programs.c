/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/prove_programs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ascope/mark.h"
#include "ascope/session.h"
#include "ascope/sim.h"

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool is_trouble(struct prove_facts *f, const char *what, const char *why)
{
    snprintf(f->trouble, sizeof f->trouble, "%.60s: %.130s", what, why);
    return false;
}

/* ---- the host's part, of every program ---- */

static void *ranges_run(void *facts)
{
    struct prove_facts *const f = facts;
    for (int i = 0; i < PROVE_RANGES; i++) {
        char text[32];
        snprintf(text, sizeof text, "prove range %d", i);
        f->range[i].begin.before_ns = wall_ns();
        const uint64_t id = ascope_range_begin(NULL, text, NULL);
        f->range[i].begin.after_ns = wall_ns();
        nanosleep(&(struct timespec){ .tv_nsec = 100000L * (1 + i % 5) }, NULL);
        f->range[i].end.before_ns = wall_ns();
        ascope_range_end(NULL, id);
        f->range[i].end.after_ns = wall_ns();
    }
    return NULL;
}

static void host_run(struct prove_facts *f)
{
    pthread_t thread;
    const bool has_thread = pthread_create(&thread, NULL, ranges_run, f) == 0;
    for (int i = 0; i < PROVE_MARKS; i++) {
        char text[32];
        snprintf(text, sizeof text, "prove mark %d", i);
        f->mark[i].before_ns = wall_ns();
        ascope_mark(NULL, text, NULL);
        f->mark[i].after_ns = wall_ns();
    }
    if (has_thread)
        pthread_join(thread, NULL);
    else
        is_trouble(f, "the second thread", "there is none");
}

/* Records what `device_run` does, and the host's part. */
static void record(struct prove_facts *f, const char *device, bool (*device_run)(struct prove_facts *f))
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    ascope_options_init(&o);
    o.parent_dir = f->parent;
    o.layout = ASCOPE_LAYOUT_PROF;
    o.device = device;
    o.level = ASCOPE_LEVEL1;
    o.mstx = true;
    o.host_sys = 0;
    ascope_options_set(&o, "runtime_api", "on"); /* with it the sizes of copies */
    struct ascope_session *const s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e)) {
        is_trouble(f, "the recording does not start", e.text);
        ascope_session_discard(s);
        return;
    }
    host_run(f);
    if (device_run && !device_run(f) && !*f->trouble)
        is_trouble(f, device, "a call of the program failed");
    if (!ascope_session_stop(s, &e))
        is_trouble(f, "the recording does not stop", e.text);
    snprintf(f->path, sizeof f->path, "%s", ascope_session_path(s));
    ascope_session_end(s, &e);
}

void prove_host(void *facts)
{
    record(facts, "none", NULL);
}

/* ---- the simulated NPU ---- */

static bool sim_run(struct prove_facts *f)
{
    const struct ascope_sim_tensor t = { ASCOPE_SIM_FLOAT16, 2, { 256, 256 } }, in[] = { t, t };
    struct ascope_sim_stream *stream[PROVE_STREAMS];
    for (int i = 0; i < PROVE_STREAMS; i++)
        if (!(stream[i] = ascope_sim_stream_new(0)))
            return false;
    f->n_kernels = PROVE_KERNELS;
    f->n_copies = PROVE_COPIES;
    f->names_kernels = true;
    for (int i = 0; i < PROVE_COPIES; i++) {
        f->copy_bytes[i] = UINT64_C(65536) * (uint64_t)(i + 1);
        ascope_sim_copy(stream[0], ASCOPE_SIM_HOST_TO_DEVICE, f->copy_bytes[i]);
    }
    ascope_sim_synchronize(stream[0]);
    for (int i = 0; i < PROVE_KERNELS; i++) {
        char name[32];
        snprintf(name, sizeof name, "prove_kernel_%d", i);
        f->kernel[i].before_ns = wall_ns();
        ascope_sim_launch(stream[i % PROVE_STREAMS], &(struct ascope_sim_kernel){ "Add", name, in, &t, 2, 1 });
    }
    ascope_sim_synchronize(NULL);
    for (int i = 0; i < PROVE_KERNELS; i++)
        f->kernel[i].after_ns = wall_ns();
    return true;
}

void prove_sim(void *facts)
{
    record(facts, "sim", sim_run);
}

/* ---- GPUs, by the driver alone ---- */

/* Runs as long as its argument says, by the GPU's own clock. */
static const char spin_ptx[] = ".version 6.4\n.target sm_75\n.address_size 64\n"
                               ".visible .entry prove_spin(.param .u64 ns)\n{\n"
                               ".reg .u64 %first, %now, %since, %wanted;\n.reg .pred %less;\n"
                               "ld.param.u64 %wanted, [ns];\nmov.u64 %first, %globaltimer;\n"
                               "again:\nmov.u64 %now, %globaltimer;\nsub.u64 %since, %now, %first;\n"
                               "setp.lt.u64 %less, %since, %wanted;\n@%less bra again;\nret;\n}\n";

static struct {
    int (*init)(unsigned flags);
    int (*device)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*use)(void *context);
    int (*load)(void **module, const void *image);
    int (*function)(void **function, void *module, const char *name);
    int (*allocate)(uint64_t *at, size_t bytes);
    int (*copy)(uint64_t to, const void *from, size_t bytes);
    int (*set)(uint64_t at, unsigned char value, size_t bytes);
    int (*stream)(void **stream, unsigned flags);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, void *stream, void **arguments, void **more);
    int (*wait)(void);
} cu;
static void *cu_spin, *cu_stream[PROVE_STREAMS];
static uint64_t cu_memory;
enum { CU_MEMORY = 65536 * PROVE_COPIES };

static bool functions_find(const char *const *libraries, const char *const *names, void *to)
{
    void *library = NULL;
    for (; *libraries && !library; libraries++)
        library = dlopen(*libraries, RTLD_NOW | RTLD_GLOBAL);
    for (size_t i = 0; names[i]; i++) {
        void *const at = library ? dlsym(library, names[i]) : NULL;
        if (!at)
            return false;
        memcpy((char *)to + i * sizeof at, &at, sizeof at);
    }
    return true;
}

static bool cuda_ready(void)
{
    static const char *const libraries[] = { "libcuda.so.1", NULL };
    static const char *const names[] = { "cuInit",
                                         "cuDeviceGet",
                                         "cuDevicePrimaryCtxRetain",
                                         "cuCtxSetCurrent",
                                         "cuModuleLoadData",
                                         "cuModuleGetFunction",
                                         "cuMemAlloc_v2",
                                         "cuMemcpyHtoD_v2",
                                         "cuMemsetD8_v2",
                                         "cuStreamCreate",
                                         "cuLaunchKernel",
                                         "cuCtxSynchronize",
                                         NULL };
    int device;
    void *context, *module;
    enum { NON_BLOCKING = 1 };
    return functions_find(libraries, names, &cu) && cu.init(0) == 0 && cu.device(&device, 0) == 0 &&
           cu.retain(&context, device) == 0 && cu.use(context) == 0 && cu.load(&module, spin_ptx) == 0 &&
           cu.function(&cu_spin, module, "prove_spin") == 0 && cu.allocate(&cu_memory, CU_MEMORY) == 0 &&
           cu.stream(&cu_stream[0], NON_BLOCKING) == 0 && cu.stream(&cu_stream[1], NON_BLOCKING) == 0;
}

static bool cuda_run(struct prove_facts *f)
{
    void *const from = calloc(1, CU_MEMORY);
    bool is_well = from != NULL;
    f->n_kernels = PROVE_KERNELS;
    f->n_copies = PROVE_COPIES;
    f->n_sets = PROVE_SETS;
    for (int i = 0; i < PROVE_COPIES && is_well; i++) {
        f->copy_bytes[i] = UINT64_C(65536) * (uint64_t)(i + 1);
        is_well = cu.copy(cu_memory, from, f->copy_bytes[i]) == 0;
    }
    for (int i = 0; i < PROVE_SETS && is_well; i++)
        is_well = cu.set(cu_memory, 0, 4096) == 0;
    for (int i = 0; i < PROVE_KERNELS && is_well; i++) {
        f->kernel_ns[i] = 50000 + 5000 * (uint64_t)i;
        f->kernel[i].before_ns = wall_ns();
        is_well = cu.launch(cu_spin, 1, 1, 1, 1, 1, 1, 0, cu_stream[i % PROVE_STREAMS], (void *[]){ &f->kernel_ns[i] },
                            NULL) == 0;
    }
    is_well = is_well && cu.wait() == 0;
    for (int i = 0; i < PROVE_KERNELS; i++)
        f->kernel[i].after_ns = wall_ns();
    free(from);
    return is_well;
}

void prove_cuda(void *facts)
{
    if (!cuda_ready())
        is_trouble(facts, "cuda", "the driver cannot be used, or does not take the kernel");
    else
        record(facts, "cuda", cuda_run);
}

/* ---- NPUs, by ACL: without a compiler for them there are copies and sets ---- */

static struct {
    int (*init)(const char *config);
    int (*use)(int device);
    int (*allocate)(void **at, size_t bytes, int policy);
    int (*copy)(void *to, size_t most, const void *from, size_t bytes, int kind);
    int (*set)(void *at, size_t most, int value, size_t bytes);
    int (*wait)(void);
} acl;
static void *acl_memory;

static bool ascend_ready(void)
{
    static const char *const libraries[] = { "libascendcl.so",
                                             "/usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so", NULL };
    static const char *const names[] = { "aclInit",     "aclrtSetDevice",         "aclrtMalloc", "aclrtMemcpy",
                                         "aclrtMemset", "aclrtSynchronizeDevice", NULL };
    return functions_find(libraries, names, &acl) && acl.init(NULL) == 0 && acl.use(0) == 0 &&
           acl.allocate(&acl_memory, CU_MEMORY, 0) == 0;
}

static bool ascend_run(struct prove_facts *f)
{
    enum { TO_DEVICE = 1 };
    void *const from = calloc(1, CU_MEMORY);
    bool is_well = from != NULL;
    f->n_copies = PROVE_COPIES;
    for (int i = 0; i < PROVE_COPIES && is_well; i++) {
        f->copy_bytes[i] = UINT64_C(65536) * (uint64_t)(i + 1);
        is_well = acl.copy(acl_memory, CU_MEMORY, from, f->copy_bytes[i], TO_DEVICE) == 0;
    }
    is_well = is_well && acl.wait() == 0;
    free(from);
    return is_well;
}

void prove_ascend(void *facts)
{
    if (!ascend_ready())
        is_trouble(facts, "ascend", "ACL cannot be used");
    else
        record(facts, "ascend", ascend_run);
}
