/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/release.h"

#define DROP(column) (arena_drop(mem, (column)), (column) = NULL)

void release_host_records(struct profile *p)
{
    struct arena *mem = p->host.source.mem;
    struct calls *c = &p->host.calls;
    DROP(c->parent), DROP(c->in_tree);
    arena_drop(p->host.calls_mem, c->request), c->request = NULL;

    struct node_basics *b = &p->host.records.node_basics; /* op_type is needed by comm_operators.c */
    DROP(b->thread), DROP(b->task_type), DROP(b->blocks), DROP(b->op_flag), DROP(b->time), DROP(b->name);
    DROP(b->is_static), DROP(b->call);

    struct node_attrs *a = &p->host.records.node_attrs;
    DROP(a->thread), DROP(a->time), DROP(a->name), DROP(a->text), DROP(a->call);

    struct tensors *t = &p->host.records.tensors;
    DROP(t->thread), DROP(t->time), DROP(t->name), DROP(t->call);
    for (int d = 0; d < 2; d++)
        DROP(t->shapes[d]), DROP(t->types[d]), DROP(t->formats[d]);

    struct contexts *x = &p->host.records.contexts;
    DROP(x->thread), DROP(x->count), DROP(x->level), DROP(x->time), DROP(x->name), DROP(x->ids), DROP(x->call);

    struct tracks *k = &p->host.records.tracks;
    DROP(k->thread), DROP(k->data_len), DROP(k->task), DROP(k->device), DROP(k->stream), DROP(k->batch);
    DROP(k->time), DROP(k->type), DROP(k->kernel), DROP(k->record), DROP(k->call);

    struct hccl_infos *i = &p->host.records.hccl_infos;
    DROP(i->thread), DROP(i->time), DROP(i->call);
}

void release_device_log(struct device *d)
{
    struct arena *mem = d->source.mem;
    struct device_log *l = &d->log;
    DROP(l->stream), DROP(l->batch), DROP(l->task), DROP(l->context), DROP(l->key), DROP(l->begin), DROP(l->end);
    DROP(l->type);
}

void release_requests(struct profile *p)
{
    struct arena *mem = p->host.source.mem;
    struct hccl_infos *i = &p->host.records.hccl_infos;
    DROP(i->item), DROP(i->group), DROP(i->notify), DROP(i->src), DROP(i->dst), DROP(i->size), DROP(i->estimate_us);
    DROP(i->local_rank), DROP(i->remote_rank), DROP(i->rank_size), DROP(i->plane), DROP(i->context);
    DROP(i->data_type), DROP(i->link), DROP(i->transport), DROP(i->rdma);
    DROP(p->host.records.node_basics.op_type);
    DROP(p->host.tasks.key);

    struct comm_requests *r = &p->host.comm;
    DROP(r->small.device), DROP(r->small.stream), DROP(r->small.batch), DROP(r->small.task), DROP(r->small.context);
    DROP(r->small.thread), DROP(r->small.model), DROP(r->small.connection), DROP(r->small.time), DROP(r->small.info);
    DROP(r->small.is_master);
}
