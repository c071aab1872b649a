/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "ascope/record.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/ring_inline.h"
#include "collect/session/graph_nodes.h"
#include "collect/session/host_clock.h"
#include "collect/session/recording.h"
#include "collect/write/name_dictionary.h"

/* Functions whose names begin with one of these are recorded. */
static const char *const of_runtime[] = { "cudaLaunch",
                                          "__cudaLaunch", /* what <<< >>> becomes from CUDA 13 on */
                                          "cudaGraphLaunch",
                                          "cudaGraphInstantiate",
                                          "cudaMemcpy",
                                          "cudaMemset",
                                          "cudaMemPrefetch",
                                          "cudaMalloc",
                                          "cudaFree",
                                          "cudaHostAlloc",
                                          "cudaHostRegister",
                                          "cudaHostUnregister",
                                          "cudaDeviceSynchronize",
                                          "cudaThreadSynchronize",
                                          "cudaStreamSynchronize",
                                          "cudaEventSynchronize",
                                          "cudaStreamWaitEvent",
                                          "cudaLibraryLoad",
                                          NULL };
static const char *const of_driver[] = { "cuLaunch",
                                         "cuGraphLaunch",
                                         "cuGraphInstantiate",
                                         "cuMemcpy",
                                         "cuMemset",
                                         "cuMemPrefetch",
                                         "cuMemAlloc",
                                         "cuMemFree",
                                         "cuMemHostAlloc",
                                         "cuMemHostRegister",
                                         "cuMemHostUnregister",
                                         "cuMemCreate", /* this and the next four: PyTorch's expandable segments */
                                         "cuMemRelease",
                                         "cuMemMap",
                                         "cuMemUnmap",
                                         "cuMemSetAccess",
                                         "cuModuleLoad",
                                         "cuLibraryLoad",
                                         "cuCtxSynchronize",
                                         "cuStreamSynchronize",
                                         "cuEventSynchronize",
                                         "cuStreamWaitEvent",
                                         NULL };

static bool is_recorded(const char *function, bool is_driver)
{
    for (const char *const *name = is_driver ? of_driver : of_runtime; *name; name++)
        if (strncmp(function, *name, strlen(*name)) == 0)
            return true;
    return false;
}

enum { TYPE_CUDA = 0x20000000, DOMAIN_SHIFT = 16, IDS_MOST = 2048, CALLS_MOST = 512 };
static struct {
    int32_t domain;
    uint32_t id;
} recorded[CALLS_MOST];
static size_t n_recorded;
static void *_Atomic subscriber;
/* The two users of the subscription: calls of a session, and nodes of graphs. */
static atomic_bool has_calls;
static const struct cupti_calls *watches; /* NULL: it does not */

bool launches_are_recorded(void)
{
    return atomic_load_explicit(&has_calls, memory_order_relaxed); /* relaxed: no other data depends on it */
}

static uint32_t type_of(int32_t domain, uint32_t id)
{
    return TYPE_CUDA + ((uint32_t)domain << DOMAIN_SHIFT) + id;
}

static __thread uint32_t outer __attribute__((tls_model("initial-exec"))); /* correlation id of the runtime's call */

static __thread const struct cupti_calls *finalizes_with
    __attribute__((tls_model("initial-exec"))); /* see launches_end() */

/* A call while nothing is recorded: at the exit of that of launches_end(), CUPTI is detached. */
static void on_other_call(const struct cupti_call *call)
{
    if (!finalizes_with || call->site != CUPTI_EXIT)
        return;
    const struct cupti_calls *const c = finalizes_with;
    finalizes_with = NULL;
    subscriber = NULL;
    c->finalize();
}

static void on_node(uint32_t callback, const struct cupti_graph_node *n)
{
    uint64_t id, of_id;
    if (!n || watches->node_id(n->node, &id) != 0)
        return;
    if (callback == CUPTI_NODE_CREATED)
        graph_nodes_add(id);
    else if (watches->node_id(n->original_node, &of_id) == 0)
        graph_nodes_copy(id, of_id);
}

static void on_call(void *user, int32_t domain, uint32_t id, const struct cupti_call *call)
{
    (void)user;
    if (domain == CUPTI_OF_RESOURCE) {
        on_node(id, ((const struct cupti_resource *)(const void *)call)->node);
        return;
    }
    if (!ascope_records(ASCOPE_RECORDS_DEVICE)) {
        on_other_call(call);
        return;
    }
    if (domain == CUPTI_OF_RUNTIME)
        outer = call->site == CUPTI_ENTER ? call->correlation : 0;
    else if (outer == call->correlation) /* the driver call inside of a runtime call is not recorded again */
        return;
    if (call->site == CUPTI_ENTER) {
        *call->shared = host_clock_now();
        return;
    }
    const uint64_t begin = *call->shared, end = host_clock_now();
    if (begin < atomic_load_explicit(&recording_began, memory_order_relaxed)) /* a time to compare with, nothing else */
        return;
    const struct ring_slot slot = ring_put_inline(STREAM_CALL, sizeof(struct call_bytes));
    if (!slot.at)
        return;
    *(struct call_bytes *)slot.at = (struct call_bytes){
        .magic = HOST_MAGIC,
        .level = LEVEL_RUNTIME,
        .type = type_of(domain, id),
        .thread = ring_thread_inline(),
        .request = call->correlation,
        .begin = begin,
        .end = end,
    };
    ring_done_inline(slot);
}

/* Names a callback id: without the suffix by which the runtime numbers variants ("cudaLaunchKernel_v7000"), and without
 * the "__" of functions that only compilers call. Names of the driver keep their suffixes, which are part of them. */
static void type_name(int32_t domain, uint32_t id, const char *name)
{
    char text[120];
    snprintf(text, sizeof text, "%s", name + strspn(name, "_"));
    char *const suffix = domain == CUPTI_OF_RUNTIME ? strrchr(text, '_') : NULL;
    if (suffix && suffix[1] == 'v' && suffix[2] && strspn(suffix + 2, "0123456789") == strlen(suffix + 2))
        *suffix = '\0';
    ascope_type_name(LEVEL_RUNTIME, type_of(domain, id), text);
}

static void find_all(const struct cupti_calls *c, int32_t domain)
{
    for (uint32_t id = 1; id < IDS_MOST && n_recorded < CALLS_MOST; id++) {
        const char *name = NULL;
        if (c->callback_name(domain, id, &name) != 0 || !name || !is_recorded(name, domain == CUPTI_OF_DRIVER))
            continue;
        type_name(domain, id, name);
        recorded[n_recorded].domain = domain;
        recorded[n_recorded++].id = id;
    }
}

static int32_t subscribe(const struct cupti_calls *c)
{
    void *own = NULL;
    const int32_t code = subscriber ? 0 : c->subscribe(&own, on_call, NULL);
    if (own)
        subscriber = own;
    return code;
}

int32_t launches_start(const struct cupti_calls *c)
{
    int32_t code = subscribe(c);
    if (code != 0)
        return code;
    has_calls = true;
    if (n_recorded == 0) {
        find_all(c, CUPTI_OF_RUNTIME);
        find_all(c, CUPTI_OF_DRIVER);
    }
    for (size_t i = 0; i < n_recorded && code == 0; i++)
        code = c->enable_callback(1, subscriber, recorded[i].domain, recorded[i].id);
    if (code != 0)
        launches_stop(c);
    return code;
}

static void unsubscribe(const struct cupti_calls *c)
{
    if (subscriber && !has_calls && !watches) {
        c->unsubscribe(subscriber);
        subscriber = NULL;
    }
}

void launches_stop(const struct cupti_calls *c)
{
    for (size_t i = 0; subscriber && i < n_recorded; i++)
        c->enable_callback(0, subscriber, recorded[i].domain, recorded[i].id);
    has_calls = false;
    unsubscribe(c);
}

/* `call` makes a call whose callback is enabled. */
static void detach(const struct cupti_calls *c, void (*call)(void))
{
    finalizes_with = c;
    call();
    if (!finalizes_with) /* on_other_call() has detached it */
        return;
    finalizes_with = NULL;
    launches_stop(c);
    c->finalize();
}

void launches_end(const struct cupti_calls *c, void (*call)(void))
{
    if (!c->finalize || watches) {
        launches_stop(c);
        return;
    }
    has_calls = false;
    detach(c, call);
}

void launches_name(void)
{
    for (size_t i = 0; i < n_recorded; i++)
        names_say_type(LEVEL_RUNTIME, type_of(recorded[i].domain, recorded[i].id));
}

/* ---- nodes of captured graphs ---- */

static const uint32_t of_nodes[] = { CUPTI_NODE_CREATED, CUPTI_NODE_CLONED };
enum { OF_NODES = sizeof of_nodes / sizeof *of_nodes };

/* The call at whose exit CUPTI is detached, which waits for nothing: another capture may be going on. */
static const char question_name[] = "cuDeviceGetCount";
static uint32_t question;
static const struct cupti_calls *asks;

static uint32_t question_find(const struct cupti_calls *c)
{
    for (uint32_t id = 1; id < IDS_MOST; id++) {
        const char *name = NULL;
        if (c->callback_name(CUPTI_OF_DRIVER, id, &name) == 0 && name && strcmp(name, question_name) == 0)
            return id;
    }
    return IDS_MOST; /* there is no such callback */
}

static void ask(void)
{
    int32_t n;
    asks->device_count(&n);
}

bool nodes_are_watched(void)
{
    return watches != NULL;
}

int32_t nodes_start(const struct cupti_calls *c)
{
    int32_t code = subscribe(c);
    if (code != 0)
        return code;
    watches = c;
    for (size_t i = 0; i < OF_NODES && code == 0; i++)
        code = c->enable_callback(1, subscriber, CUPTI_OF_RESOURCE, of_nodes[i]);
    if (code != 0)
        nodes_end(c);
    return code;
}

void nodes_end(const struct cupti_calls *c)
{
    for (size_t i = 0; i < OF_NODES; i++)
        c->enable_callback(0, subscriber, CUPTI_OF_RESOURCE, of_nodes[i]);
    if (has_calls || !c->finalize) {
        watches = NULL;
        unsubscribe(c);
        return;
    }
    if (question == 0)
        question = question_find(c);
    if (question != IDS_MOST)
        c->enable_callback(1, subscriber, CUPTI_OF_DRIVER, question);
    watches = NULL;
    asks = c;
    detach(c, ask);
}
