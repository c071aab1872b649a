/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "view/rows/view_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/stamp.h"

struct joint_part *joint_add(struct joint *j)
{
    struct joint_part *p = calloc(1, sizeof *p), **slot = p ? list_add(&j->parts, j->mem) : NULL;
    if (slot)
        *slot = p;
    else
        free(p);
    return slot ? p : NULL;
}

static void part_release(struct joint_part *p)
{
    chrome_trace_free(&p->trace);
    memory_unmap(&p->drawn);
}

bool joint_take(struct joint *j, struct joint_part *p, const char *dir, struct error *e)
{
    if (j->fd < 0)
        j->fd = memory_file_near(dir);
    if (j->fd < 0)
        return error_set(e, FAULT_IO, "%s: no space for a joint timeline: %s", dir, strerror(errno));
    p->at = j->n_bytes;
    for (size_t done = 0; done < p->trace.n_bytes;) {
        const ssize_t n = write(j->fd, p->trace.text + done, p->trace.n_bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set(e, FAULT_IO, "%s: no space for a joint timeline: %s", dir, strerror(errno));
        done += (size_t)n;
    }
    j->n_bytes += p->trace.n_bytes;
    memory_unmap(&p->trace.map);
    memory_unmap(&p->drawn);
    return true;
}

void joint_drop(struct joint *j, struct joint_part *p)
{
    size_t n = 0;
    for (size_t i = 0; i < j->parts.n; i++)
        if (j->parts.at[i] != p)
            j->parts.at[n++] = j->parts.at[i];
    j->parts.n = n;
    part_release(p);
    free(p);
}

/* The state while a part is added to the joint trace. */
struct joint_trace_joining {
    struct chrome_trace *out;
    const struct joint_part *part;
    size_t number;
    name_id *name;          /* of the joint trace, by those of the part */
    name_id *flow_category; /* the same with the title of the part before it; NAME_EMPTY: not used yet */
    uint32_t first_process, first_track;
};

/* A sort index that keeps the order of tracks inside a part, and the parts one after the other. */
static int64_t sort_index(const struct joint_trace_joining *q, bool has, int64_t index)
{
    enum { ROOM = 1 << 30 };
    const int64_t own = !has ? ROOM : index > ROOM - 1 ? ROOM - 1 : index < -ROOM ? -ROOM : index;
    return (int64_t)q->number * 4 * ROOM + own;
}

static bool names_join(struct joint_trace_joining *q, struct arena *mem)
{
    const struct names *from = q->part->trace.names;
    q->name = arena_take(mem, names_count(from), sizeof *q->name);
    q->flow_category = arena_take(mem, names_count(from), sizeof *q->flow_category);
    for (size_t i = 0; q->name && i < names_count(from); i++)
        q->name[i] = names_add(q->out->names, names_text(from, (name_id)i), names_len(from, (name_id)i));
    return q->name && q->flow_category && !names_failed(q->out->names);
}

static struct chrome_id joint_trace_id_of(const struct joint_trace_joining *q, struct chrome_id id)
{
    id.text = q->name[id.text];
    return id;
}

static bool rows_join(struct joint_trace_joining *q, struct arena *mem)
{
    const struct chrome_trace *t = &q->part->trace;
    struct chrome_trace *out = q->out;
    for (size_t i = 0; i < t->processes.n; i++) {
        const struct chrome_process *from = &t->processes.at[i];
        struct chrome_process *to = list_add(&out->processes, out->mem);
        const char *name =
            arena_printf(mem, "%s: %s", q->part->title, names_text(t->names, from->name ? from->name : from->id.text));
        if (!to || !name)
            return false;
        *to = *from;
        to->id = joint_trace_id_of(q, from->id);
        to->name = names_addz(out->names, name);
        to->labels = q->name[from->labels];
        to->has_sort_index = true;
        to->sort_index = sort_index(q, from->has_sort_index, from->sort_index);
    }
    for (size_t i = 0; i < t->tracks.n; i++) {
        const struct chrome_track *from = &t->tracks.at[i];
        struct chrome_track *to = list_add(&out->tracks, out->mem);
        if (!to)
            return false;
        *to = *from;
        to->process += q->first_process;
        to->id = joint_trace_id_of(q, from->id);
        to->name = q->name[from->name];
        to->first += out->slices.n;
    }
    return true;
}

static void slices_join(struct joint_trace_joining *q)
{
    const struct chrome_slices *from = &q->part->trace.slices;
    struct chrome_slices *to = &q->out->slices;
    for (size_t i = 0, k = to->n; i < from->n; i++, k++) {
        to->begin_ns[k] = stamp_add(from->begin_ns[i], q->part->shift_ns);
        to->dur_ns[k] = from->dur_ns[i];
        to->args_at[k] = from->args_at[i] + q->part->at;
        to->args_len[k] = from->args_len[i];
        to->name[k] = q->name[from->name[i]];
        to->category[k] = q->name[from->category[i]];
        to->track[k] = from->track[i] + q->first_track;
    }
    to->n += from->n;
}

static bool others_join(struct joint_trace_joining *q, struct arena *mem)
{
    const struct chrome_trace *t = &q->part->trace;
    struct chrome_trace *out = q->out;
    const int64_t shift = q->part->shift_ns;
    for (size_t i = 0; i < t->instants.n; i++) {
        struct chrome_instant *to = &out->instants.at[out->instants.n++];
        *to = t->instants.at[i];
        to->ns = stamp_add(to->ns, shift);
        to->args_at += q->part->at;
        to->name = q->name[to->name];
        to->category = q->name[to->category];
        to->track += q->first_track;
    }
    for (size_t i = 0; i < t->counters.n; i++) {
        struct chrome_counter *to = &out->counters.at[out->counters.n++];
        *to = t->counters.at[i];
        to->ns = stamp_add(to->ns, shift);
        to->name = q->name[to->name];
        to->series = q->name[to->series];
        to->track += q->first_track;
    }
    /* Numbers of flows are those of one part: its title in the category keeps them apart. */
    for (size_t i = 0; i < t->flows.n; i++) {
        struct chrome_flow *to = &out->flows.at[out->flows.n++];
        *to = t->flows.at[i];
        name_id *category = &q->flow_category[to->category];
        if (*category == NAME_EMPTY) {
            const char *text = arena_printf(mem, "%s: %s", q->part->title, names_text(t->names, to->category));
            if (!text)
                return false;
            *category = names_addz(out->names, text);
        }
        to->ns = stamp_add(to->ns, shift);
        to->category = *category;
        to->name = q->name[to->name];
        to->id = to->is_text ? q->name[to->id] : to->id;
        to->track += q->first_track;
    }
    return true;
}

static bool part_join(struct chrome_trace *out, const struct joint_part *p, size_t number)
{
    struct arena *mem = arena_new();
    struct joint_trace_joining q = { .out = out,
                                     .part = p,
                                     .number = number,
                                     .first_process = (uint32_t)out->processes.n,
                                     .first_track = (uint32_t)out->tracks.n };
    const bool done = mem && names_join(&q, mem) && rows_join(&q, mem) && others_join(&q, mem);
    if (done)
        slices_join(&q);
    out->n_events += p->trace.n_events;
    losses_merge(&out->lost, &p->trace.lost);
    arena_free(mem);
    return done && !names_failed(out->names);
}

static bool columns_take(struct chrome_trace *out, const struct joint *j)
{
    size_t n = 0, instants = 0, counters = 0, flows = 0;
    for (size_t i = 0; i < j->parts.n; i++) {
        n += j->parts.at[i]->trace.slices.n;
        instants += j->parts.at[i]->trace.instants.n;
        counters += j->parts.at[i]->trace.counters.n;
        flows += j->parts.at[i]->trace.flows.n;
    }
    struct chrome_slices *s = &out->slices;
    arena_columns(out->mem, n + 1, s->begin_ns, s->dur_ns, s->args_at, s->args_len, s->name, s->category, s->track);
    out->instants.at = arena_take(out->mem, out->instants.cap = instants + 1, sizeof *out->instants.at);
    out->counters.at = arena_take(out->mem, out->counters.cap = counters + 1, sizeof *out->counters.at);
    out->flows.at = arena_take(out->mem, out->flows.cap = flows + 1, sizeof *out->flows.at);
    return !arena_failed(out->mem);
}

bool joint_finish(struct joint *j, struct chrome_trace *out, struct mapped *text, const char *path, struct error *e)
{
    *out = (struct chrome_trace){ .path = path, .mem = arena_new(), .names = names_new(), .text = "" };
    if (!out->mem || !out->names || !columns_take(out, j))
        return error_no_memory(e, path);
    if (j->n_bytes > 0) {
        if (!memory_map(text, j->fd, (size_t)j->n_bytes))
            return error_set(e, FAULT_IO, "%s: the joint timeline cannot be mapped: %s", path, strerror(errno));
        out->text = text->at;
        out->n_bytes = text->bytes;
    }
    for (size_t i = 0; i < j->parts.n; i++) {
        if (!part_join(out, j->parts.at[i], i))
            return error_no_memory(e, path);
        part_release(j->parts.at[i]);
    }
    return true;
}

void joint_close(struct joint *j)
{
    for (size_t i = 0; i < j->parts.n; i++) {
        part_release(j->parts.at[i]);
        free(j->parts.at[i]);
    }
    if (j->fd >= 0)
        close(j->fd);
}
