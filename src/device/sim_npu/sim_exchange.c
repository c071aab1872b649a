/* SPDX-License-Identifier: Apache-2.0 */
/* A few exchanges can be open at a time, each on a stream of its own. The stream of the operators waits only for those
 * that have ended on the host, so that an exchange that never ends blocks nothing. */
#include "device/sim_npu/sim_npu_parts.h"

#include <stdio.h>
#include <string.h>

#include "ascope/mark.h"
#include "collect/session/host_clock.h"
#include "device/sim_npu/sim_npu.h"
#include "device/sim_npu/sim_queue.h"

enum { OPEN_MOST = 32 };

static struct exchange {      /* guarded by the simulator's lock, except for what only the thread of the queue uses */
    uint64_t id;              /* 0: the slot is free */
    struct npu_collective of; /* of.met is kept until the exchange is joined */
    const struct named *named;
    struct ascope_sim_exchange asked; /* its texts point into this struct or to constants */
    bool has_met;
    char group[128];
    struct ascope_sim_stream *stream; /* created once, and used for all exchanges of this slot */
    struct ascope_sim_event before, after;
} exchanges[OPEN_MOST];
static uint64_t n_begun;

/* Names of collectives without the prefix of the backend. A collective that the device does not have is shown as one
 * that moves as much data. Marks have the names that torch_npu gives them; NULL: it has no mark for it. */
static const struct named {
    const char *of_framework, *of_device, *of_mark;
} nameds[] = {
    { "all_reduce", "HcclAllReduce", "HcclAllreduce" },
    { "all_gather", "HcclAllGather", "HcclAllGather" },
    { "_all_gather_base", "HcclAllGather", "HcclAllGather" },
    { "reduce_scatter", "HcclReduceScatter", "HcclReduceScatter" },
    { "_reduce_scatter_base", "HcclReduceScatter", "HcclReduceScatter" },
    { "broadcast", "HcclBroadcast", "HcclBroadcast" },
    { "reduce", "HcclReduce", "HcclReduce" },
    { "scatter", "HcclScatter", "HcclScatter" },
    { "gather", "HcclAllGather", NULL },
    { "all_to_all", "HcclAlltoAll", "HcclAlltoAll" },
    { "send", "HcclSend", "HcclSend" },
    { "recv", "HcclRecv", "HcclRecv" },
    { "recvAnySource", "HcclRecv", "HcclRecv" },
    { "barrier", "HcclAllReduce", NULL },
};

static const struct named *named_of(const char *name)
{
    static const char *const backends[] = { "gloo", "nccl", "mpi", "ucc",
                                            "hccl" }; /* users put colons into names, too */
    const char *const colon = name ? strchr(name, ':') : NULL;
    bool is_known = false;
    for (size_t i = 0; colon && i < sizeof backends / sizeof *backends; i++)
        is_known |= strncmp(name, backends[i], (size_t)(colon - name)) == 0 && backends[i][colon - name] == '\0';
    for (size_t i = 0; is_known && i < sizeof nameds / sizeof *nameds; i++)
        if (strcmp(colon + 1, nameds[i].of_framework) == 0)
            return &nameds[i];
    return NULL;
}

/* ---- marks: a range around the launch, on the stream of the collective ---- */

/* The names of data types in marks of torch_npu. */
static const struct {
    const char *name;
    unsigned bytes;
} element[] = {
    [ASCOPE_SIM_FLOAT] = { "fp32", 4 },    [ASCOPE_SIM_FLOAT16] = { "fp16", 2 },  [ASCOPE_SIM_INT8] = { "int8", 1 },
    [ASCOPE_SIM_INT32] = { "int32", 4 },   [ASCOPE_SIM_UINT8] = { "uint8", 1 },   [ASCOPE_SIM_INT16] = { "int16", 2 },
    [ASCOPE_SIM_UINT16] = { "uint16", 2 }, [ASCOPE_SIM_UINT32] = { "uint32", 4 }, [ASCOPE_SIM_INT64] = { "int64", 8 },
    [ASCOPE_SIM_UINT64] = { "uint64", 8 }, [ASCOPE_SIM_DOUBLE] = { "fp64", 8 },   [ASCOPE_SIM_BF16] = { "bfp16", 2 },
};

static uint64_t mark_begin(const struct named *named, const struct ascope_sim_exchange *of, void *stream,
                           uint16_t stream_id)
{
    if (!named || !named->of_mark)
        return 0;
    const bool is_typed = of->type < sizeof element / sizeof *element && element[of->type].name;
    const struct ascope_collective c = {
        .size = sizeof c,
        .name = named->of_mark,
        .group = of->group,
        .data_type = is_typed ? element[of->type].name : NULL,
        .count = is_typed ? of->bytes / element[of->type].bytes : of->bytes,
        .stream_id = stream_id,
        .source_rank = strcmp(named->of_mark, "HcclRecv") == 0 ? of->peer : -1,
        .destination_rank = strcmp(named->of_mark, "HcclSend") == 0 ? of->peer : -1,
    };
    return ascope_collective_begin(&c, stream);
}

uint64_t ascope_sim_exchange_mark(const struct ascope_sim_exchange *of)
{
    return mark_begin(named_of(of->name), of, NULL, 0);
}

static struct exchange *exchange_of(uint64_t id)
{
    struct exchange *const x = &exchanges[id % OPEN_MOST];
    return id != 0 && x->id == id ? x : NULL;
}

static struct exchange *exchange_take(void)
{
    uint64_t i = 0;
    while (i < OPEN_MOST && exchanges[i].id != 0)
        i++;
    struct npu_point *const met = i < OPEN_MOST ? npu_point_get(1) : NULL;
    if (!met)
        return NULL;
    exchanges[i].id = ++n_begun * OPEN_MOST + i;
    exchanges[i].has_met = false;
    exchanges[i].of.met = met;
    return &exchanges[i];
}

static void meet(struct exchange *x)
{
    if (x->id == 0 || x->has_met)
        return;
    x->has_met = true;
    npu_point_happens(x->of.met, host_clock_raw_ns());
    npu_wake();
}

static void exchange_drop(struct exchange *x)
{
    x->id = 0;
    npu_point_drop(x->of.met);
    x->of.met = NULL;
}

uint64_t ascope_sim_exchange_begin(const struct ascope_sim_exchange *of)
{
    enum { LEAST_BYTES = 4 }; /* a barrier is shown as an all-reduce of one number */
    const struct named *const named = named_of(of->name);
    if (!named || !npu_what(NPU_TASKS | NPU_MARKS))
        return 0;
    npu_lock();
    struct exchange *const x = exchange_take();
    if (x) {
        snprintf(x->group, sizeof x->group, "%s", of->group ? of->group : "hccl_world_group");
        x->asked = *of;
        x->asked.name = named->of_framework;
        x->asked.group = x->group;
        x->named = named;
        x->of.name = named->of_device;
        x->of.group = x->group;
        x->of.bytes = of->bytes > 0 ? of->bytes : LEAST_BYTES;
        x->of.type = (enum ascope_sim_type)of->type;
        x->of.who = (struct npu_job){ of->rank, of->ranks > 0 ? of->ranks : 1 };
        x->of.peer = of->peer;
    }
    struct sim_queued t = { .work = SIM_OP_EXCHANGE, .bytes = x ? x->id : 0 };
    npu_unlock();
    if (t.bytes == 0)
        return 0;
    snprintf(t.type, sizeof t.type, "%s", named->of_device);
    const uint64_t id = t.bytes;
    sim_queue_put(&t);
    return id;
}

void ascope_sim_exchange_end(uint64_t id)
{
    if (id == 0)
        return;
    npu_lock();
    struct exchange *const x = exchange_of(id);
    if (x)
        meet(x);
    npu_unlock();
    if (x)
        sim_queue_put(&(struct sim_queued){ .work = SIM_OP_JOIN, .bytes = id, .type = "wait_event" });
}

void sim_exchange_launch(uint64_t id)
{
    npu_lock();
    struct exchange *const x = exchange_of(id);
    npu_unlock();
    if (x && !x->stream) {
        x->stream = ascope_sim_stream_new(0);
        npu_lock(); /* ascope_sim_synchronize() of other threads reads is_aside */
        if (x->stream)
            x->stream->is_aside = true;
        npu_unlock();
    }
    if (!x || !x->stream)
        return;
    ascope_sim_event_record(&x->before, NULL);
    ascope_sim_event_wait(&x->before, x->stream);
    const uint64_t range = mark_begin(x->named, &x->asked, x->stream, x->stream->id);
    npu_collective_run(x->stream, &x->of);
    ascope_range_end(ascope_domain_get(ASCOPE_COLLECTIVES), range);
    ascope_sim_event_record(&x->after, x->stream);
}

void sim_exchange_join(uint64_t id)
{
    npu_lock();
    struct exchange *const x = exchange_of(id);
    npu_unlock();
    if (!x)
        return;
    ascope_sim_event_wait(&x->after, NULL);
    npu_lock();
    exchange_drop(x);
    npu_unlock();
}

void npu_exchanges_release(void)
{
    for (size_t i = 0; i < OPEN_MOST; i++)
        meet(&exchanges[i]);
}

void npu_exchanges_forget(void)
{
    for (size_t i = 0; i < OPEN_MOST; i++)
        exchange_drop(&exchanges[i]);
}
