/* Collectives of a framework on the simulated device: a few that are open at a time, each on a stream of its own. One that has ended on
 * the host is joined by the stream of the operators; one that has not holds up nobody. */
#include <stdio.h>
#include <string.h>

#include "collect/host_clock.h"
#include "device/sim_npu.h"
#include "device/sim_queue.h"

enum { OPEN_MOST = 32 };

static struct exchange {      /* guarded by the simulator's lock, but for what only the far end of the queue uses */
    uint64_t id;              /* 0: free */
    struct npu_collective of; /* met: kept until it is joined */
    bool has_met;
    char group[128];
    struct ascope_sim_stream *stream; /* made once */
    struct ascope_sim_event before, after;
} exchanges[OPEN_MOST];
static uint64_t n_begun;

/* Names behind the backend's. What the device has no collective for is the one that moves as much. */
static const char *device_name(const char *name)
{
    static const struct {
        const char *of_framework, *of_device;
    } row[] = {
        { "all_reduce", "HcclAllReduce" },
        { "all_gather", "HcclAllGather" },
        { "_all_gather_base", "HcclAllGather" },
        { "reduce_scatter", "HcclReduceScatter" },
        { "_reduce_scatter_base", "HcclReduceScatter" },
        { "broadcast", "HcclBroadcast" },
        { "reduce", "HcclReduce" },
        { "scatter", "HcclScatter" },
        { "gather", "HcclAllGather" },
        { "all_to_all", "HcclAlltoAll" },
        { "send", "HcclSend" },
        { "recv", "HcclRecv" },
        { "recvAnySource", "HcclRecv" },
        { "barrier", "HcclAllReduce" },
    };
    static const char *const backends[] = { "gloo", "nccl", "mpi", "ucc",
                                            "hccl" }; /* users put colons into names, too */
    const char *const colon = strchr(name, ':');
    bool is_known = false;
    for (size_t i = 0; colon && i < sizeof backends / sizeof *backends; i++)
        is_known |= strncmp(name, backends[i], (size_t)(colon - name)) == 0 && backends[i][colon - name] == '\0';
    for (size_t i = 0; is_known && i < sizeof row / sizeof *row; i++)
        if (strcmp(colon + 1, row[i].of_framework) == 0)
            return row[i].of_device;
    return NULL;
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
    enum { LEAST_BYTES = 4 }; /* a barrier is a collective of a number */
    const char *const name = of->name ? device_name(of->name) : NULL;
    if (!name || !ascope_records(ASCOPE_RECORDS_DEVICE))
        return 0;
    npu_lock();
    struct exchange *const x = exchange_take();
    if (x) {
        snprintf(x->group, sizeof x->group, "%s", of->group ? of->group : "hccl_world_group");
        x->of.name = name;
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
    snprintf(t.type, sizeof t.type, "%s", name);
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
        npu_lock(); /* others wait for all streams */
        if (x->stream)
            x->stream->is_aside = true;
        npu_unlock();
    }
    if (!x || !x->stream)
        return;
    ascope_sim_event_record(&x->before, NULL);
    ascope_sim_event_wait(&x->before, x->stream);
    npu_collective_run(x->stream, &x->of);
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
