/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_npu_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collect/ring/ring.h"
#include "raw/name_hash.h"

enum { NODE_COMMUNICATION = 9 };

/* The index of a collective in sim_collectives by "HcclAllReduce" or "allReduce"; 0 for an unknown name. */
static uint32_t collective_find(const char *name)
{
    enum { PREFIX = 4 }; /* "Hccl" */
    for (uint32_t i = 0; name && i < sim_n_collectives; i++)
        if (strcasecmp(name, sim_collectives[i].call) == 0 || strcasecmp(name, sim_collectives[i].call + PREFIX) == 0)
            return i;
    return 0;
}

struct sim_npu_comm_collective {
    uint64_t what;
    struct npu_times times;
    struct npu_job job;
    struct ascope_sim_stream *stream[NPU_PLANES];
    unsigned planes;
    struct npu_meeting *meeting;
    const struct npu_collective *of;
    struct npu_point *begins, *ends; /* when the other streams may begin, and when all of them have ended */
    struct comm_part part;
    uint32_t reduce; /* number of the all-reduce; 0: it is another collective */
    uint16_t n_tasks;
    bool is_recorded;
};

static struct npu_meeting *meeting_make(const struct sim_collective *c, const char *group)
{
    struct npu_meeting *m = malloc(sizeof *m);
    if (!m)
        return NULL;
    *m = (struct npu_meeting){ .group = name_hash(group) | 1, .came_ns = NEVER, .all_ns = NEVER, .n_refs = 1 };
    m->number = npu_job_number(m->group);
    snprintf(m->what, sizeof m->what, "%s %llu of %.40s", c->call, (unsigned long long)m->number + 1, group);
    return m;
}

/* Fills everything but the parts, with a plane for each other rank, at most NPU_PLANES. False: no memory. */
static bool collective_prepare(struct sim_npu_comm_collective *c, struct ascope_sim_stream *s,
                               const struct sim_collective *kind)
{
    npu_lock();
    c->job = c->of->who.ranks > 0 ? c->of->who : npu_job();
    c->stream[0] = s;
    c->planes = 1;
    const uint32_t others = c->of->peer < 0 ? c->job.ranks - 1 : 1;
    while (c->planes < NPU_PLANES && c->planes < others) {
        struct ascope_sim_stream **plane = &s->plane[c->planes - 1];
        if (!*plane)
            *plane = npu_stream_get(s->of);
        if (!*plane)
            break;
        (*plane)->is_aside = s->is_aside;
        c->stream[c->planes++] = *plane;
    }
    c->meeting = meeting_make(kind, c->of->group);
    c->n_tasks = (uint16_t)(1 + c->planes * kind->n);
    if (kind == &sim_collectives[COLLECTIVE_ALL_REDUCE])
        c->reduce = ++npu.n_reduces;
    if (c->planes > 1) {
        c->begins = npu_point_get(1);
        c->ends = npu_point_get(c->planes - 1);
    }
    npu_unlock();
    return c->meeting != NULL;
}

/* Launches one task; it is recorded as a call of the plane around that of the runtime. */
static void part_run(struct sim_npu_comm_collective *c, struct npu_task *t)
{
    const struct sim_small *small = &sim_smalls[c->part.what];
    const uint64_t begin = c->what ? npu_now(&c->times) : 0;
    t->reduce = c->reduce;
    t->n_reduce = c->n_tasks;
    const struct npu_issued i = npu_issue(c->stream[c->part.plane], t, c->what, 0, &c->times, 0);
    c->is_recorded = i.is_recorded;
    if (!i.is_recorded)
        return;
    uint8_t rec[256];
    if ((c->what & NPU_CALLS) && small->kind == TASK_COPY_LOCAL) {
        record_head(rec, KIND_MEMCPY, ring_thread(), i.time);
        record_memcpy(rec, c->part.bytes, COPY_ON_DEVICE);
        npu_host_put(KIND_MEMCPY, rec);
    }
    if (!(c->what & NPU_TASKS)) /* without task records it could not be assigned to one */
        return;
    c->part.name = npu_name(small->name);
    if (c->what & NPU_COMM) {
        c->part.remote = c->of->peer < 0 ? (c->job.rank + 1 + c->part.plane) % c->job.ranks : (uint32_t)c->of->peer;
        c->part.link = small->link;
        c->part.notify = c->meeting->number % 4096 * 256 + c->part.plane;
        record_head(rec, KIND_HCCL, ring_thread(), npu_now(&c->times));
        record_comm_part(rec, &c->part);
        npu_host_put(KIND_HCCL, rec);
    }
    ascope_call(LEVEL_COMMUNICATION, c->part.plane == 0 ? TYPE_MASTER : TYPE_SLAVE, begin, npu_now(&c->times),
                c->part.name);
}

static struct npu_meeting *meeting_keep(struct npu_meeting *m)
{
    m->n_refs++;
    return m;
}

/* Launches a copy, then the tasks of each plane. Each plane waits once for the other ranks; this rank arrives when the
 * wait of the first plane begins. */
static void parts_run(struct sim_npu_comm_collective *c, const struct sim_collective *kind)
{
    c->part.what = SMALL_COPY;
    npu_lock();
    struct npu_task first = { .work = sim_work_small(SMALL_COPY, c->part.bytes), .happens = npu_point_keep(c->begins) };
    npu_unlock();
    part_run(c, &first);
    for (c->part.plane = 0; c->part.plane < c->planes; c->part.plane++) {
        bool has_met = false;
        for (unsigned i = 0; i < kind->n; i++) {
            c->part.what = (enum small)kind->small[i];
            struct npu_task t = { .work = sim_work_small(c->part.what, c->part.bytes) };
            npu_lock();
            if (c->part.plane > 0 && i == 0)
                t.after = npu_point_keep(c->begins);
            if (c->part.plane > 0 && i + 1u == kind->n)
                t.happens = npu_point_keep(c->ends);
            if (c->part.what == SMALL_WAIT && !has_met && c->of->met) {
                t.until = npu_point_keep(c->of->met);
                has_met = true;
            } else if (c->part.what == SMALL_WAIT && !has_met) {
                t.meets = meeting_keep(c->meeting);
                if (c->part.plane == 0)
                    t.comes = meeting_keep(c->meeting);
                has_met = true;
            }
            npu_unlock();
            part_run(c, &t);
        }
    }
    npu_lock();
    npu_point_drop(c->stream[0]->tail);
    c->stream[0]->tail = c->ends;
    npu_point_drop(c->begins);
    npu_unlock();
}

void npu_collective_run(struct ascope_sim_stream *s, const struct npu_collective *x)
{
    const uint32_t which = collective_find(x->name);
    const struct sim_collective *kind = &sim_collectives[which];
    struct sim_npu_comm_collective c = { .what = npu_what(NPU_LAUNCHES), .of = x };
    s = npu_stream_of(s);
    if (!s || !collective_prepare(&c, s, kind))
        return;
    c.part = (struct comm_part){ .rank = c.job.rank,
                                 .ranks = c.job.ranks,
                                 .data_type = sim_element_of(x->type)->hccl,
                                 .bytes = x->bytes / c.job.ranks + 1 };
    if (c.what) {
        c.part.group = npu_name(x->group);
        c.part.tag = npu_name(kind->node); /* without a number: parsers number the collectives of a group */
    }
    const uint64_t acl_begin = c.what ? npu_now(&c.times) : 0, node_begin = c.what ? npu_now(&c.times) : 0;
    parts_run(&c, kind);
    if (c.is_recorded) {
        uint8_t rec[64];
        if (c.what & NPU_NODES) {
            record_head(rec, KIND_NODE, ring_thread(), npu_now(&c.times));
            record_node(rec, &(struct node){ c.part.tag, c.part.tag, NODE_COMMUNICATION, 0, 0 });
            npu_host_put(KIND_NODE, rec);
        }
        if (c.what & NPU_COMM) {
            record_head(rec, KIND_HCCL_OP, ring_thread(), npu_now(&c.times));
            record_comm(rec, false, c.part.data_type, npu_name("MESH-RING-NHR"),
                        x->bytes / sim_element_of(x->type)->bytes, c.part.group);
            npu_host_put(KIND_HCCL_OP, rec);
        }
        if (c.what & (NPU_TASKS | NPU_COMM))
            ascope_call(LEVEL_NODE, TYPE_COLLECTIVE + which, node_begin, npu_now(&c.times), c.part.tag);
        if (c.what & NPU_ACL)
            ascope_call(LEVEL_ACL, TYPE_ACL_COLLECTIVE + which, acl_begin, npu_now(&c.times), 0);
    }
    npu_lock();
    npu_meeting_drop(c.meeting);
    npu_unlock();
}

void ascope_sim_collective(struct ascope_sim_stream *s, const char *name, const char *group, uint64_t bytes,
                           enum ascope_sim_type type)
{
    npu_collective_run(
        s, &(struct npu_collective){
               .name = name, .group = group ? group : "hccl_world_group", .bytes = bytes, .type = type, .peer = -1 });
}
