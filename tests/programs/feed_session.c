/* SPDX-License-Identifier: Apache-2.0 */
/* feed_session.c - the analysis of a collection, fed with what somebody else's results say of one.
 *
 *     feed_session operator_details|step_trace_time|op_statistic|flows OUT < LINES
 *
 * A line is a word and its fields, with tabs between them; in texts \t, \n, \r and \\ stand for what they are called.
 * Times are ns, durations us. What becomes of them goes to OUT as ascope would write it, in the words of the documented
 * dialect.
 *     op BEGIN END THREAD NAME SHAPES STACK       an operator, in the order of their file
 *     in BEGIN END ID THREAD, out …               a task on its way into the queue, and out of it
 *     kernel LAUNCH END THREAD BEGIN US IS_AICORE what runs on the device, and the call that launched it
 *     KIND BEGIN END                              computing, communication, exposed, free, receive
 *     task BEGIN US TYPE CORE                     a kernel, for the statistics of operators
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/flow/flows.h"
#include "analyse/framework/op_tree.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "base/files/out.h"
#include "export/framework/framework_files.h"
#include "export/msprof/prof_outputs.h"

enum { FIELDS = 8 };

struct fed {
    struct collection s;
    struct device device;
    LIST(int64_t) op_begin, op_end;
    LIST(uint32_t) op_thread;
    LIST(name_id) op_name, op_shapes, op_stack;
    struct fed_spans {
        LIST(int64_t) begin, end;
        LIST(uint64_t) id;
        LIST(uint32_t) thread;
    } in, out;
    LIST(int64_t) kernel_launch, kernel_launch_end, kernel_begin;
    LIST(uint32_t) kernel_thread;
    LIST(double) kernel_us;
    LIST(bool) kernel_aicore;
    struct fed_times {
        LIST(int64_t) begin, end;
    } overlap[OVERLAP_KINDS], receive;
    LIST(int64_t) task_begin;
    LIST(double) task_ns;
    LIST(name_id) task_type, task_core;
};

#define ADD(list, value) (*list_add(&(list), f->s.mem) = (value))

static int64_t number(const char *text)
{
    return strtoll(text, NULL, 10);
}

/* Undoes what was done to keep a text on its line; "" is no text at all. */
static name_id text_of(const struct fed *f, char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        const char *escaped = *p == '\\' && p[1] ? strchr("t\tn\nr\r\\\\", p[1]) : NULL;
        *to++ = escaped ? escaped[1] : *p;
        p += escaped != NULL;
    }
    return to == text ? NO_NAME : names_add(f->s.profile.names, text, (size_t)(to - text));
}

static void add_span(struct fed *f, struct fed_spans *q, char **field)
{
    ADD(q->begin, number(field[1]));
    ADD(q->end, number(field[2]));
    ADD(q->id, (uint64_t)number(field[3]));
    ADD(q->thread, (uint32_t)number(field[4]));
}

static struct fed_times *times_of(struct fed *f, const char *word)
{
    static const char *const kind[OVERLAP_KINDS] = { [OVERLAP_COMPUTING] = "computing",
                                                     [OVERLAP_COMMUNICATION] = "communication",
                                                     [OVERLAP_EXPOSED] = "exposed",
                                                     [OVERLAP_FREE] = "free" };
    for (int k = 0; k < OVERLAP_KINDS; k++)
        if (strcmp(word, kind[k]) == 0)
            return &f->overlap[k];
    return strcmp(word, "receive") == 0 ? &f->receive : NULL;
}

static bool add_line(struct fed *f, char **field, int n)
{
    struct fed_times *times = times_of(f, field[0]);
    if (strcmp(field[0], "op") == 0 && n == 7) {
        ADD(f->op_begin, number(field[1]));
        ADD(f->op_end, number(field[2]));
        ADD(f->op_thread, (uint32_t)number(field[3]));
        ADD(f->op_name, text_of(f, field[4]));
        ADD(f->op_shapes, text_of(f, field[5]));
        ADD(f->op_stack, text_of(f, field[6]));
    } else if (strcmp(field[0], "in") == 0 && n == 5) {
        add_span(f, &f->in, field);
    } else if (strcmp(field[0], "out") == 0 && n == 5) {
        add_span(f, &f->out, field);
    } else if (strcmp(field[0], "kernel") == 0 && n == 7) {
        ADD(f->kernel_launch, number(field[1]));
        ADD(f->kernel_launch_end, number(field[2]));
        ADD(f->kernel_thread, (uint32_t)number(field[3]));
        ADD(f->kernel_begin, number(field[4]));
        ADD(f->kernel_us, strtod(field[5], NULL));
        ADD(f->kernel_aicore, number(field[6]) > 0);
    } else if (strcmp(field[0], "task") == 0 && n == 5) {
        ADD(f->task_begin, number(field[1]));
        ADD(f->task_ns, strtod(field[2], NULL) * 1000);
        ADD(f->task_type, text_of(f, field[3]));
        ADD(f->task_core, text_of(f, field[4]));
    } else if (times && n == 3) {
        ADD(times->begin, number(field[1]));
        ADD(times->end, number(field[2]));
    } else {
        return false;
    }
    return true;
}

static bool read_lines(struct fed *f)
{
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    for (size_t number_of_line = 1; ok && getline(&line, &room, stdin) > 0; number_of_line++) {
        char *field[FIELDS], *rest = line;
        int n = 0;
        line[strcspn(line, "\n")] = 0;
        while (n < FIELDS && (field[n] = strsep(&rest, "\t")))
            n++;
        ok = add_line(f, field, n);
        if (!ok)
            fprintf(stderr, "line %zu: what is %s with %d fields?\n", number_of_line, field[0], n - 1);
    }
    free(line);
    return ok;
}

static void hand_over_ops(struct fed *f)
{
    struct framework_ops *o = &f->s.framework.ops;
    o->n = f->op_begin.n;
    o->begin_ns = f->op_begin.at;
    o->end_ns = f->op_end.at;
    o->thread = f->op_thread.at;
    o->process = arena_take(f->s.mem, o->n, sizeof *o->process);
    o->name = f->op_name.at;
    o->shapes = f->op_shapes.at;
    o->stack = f->op_stack.at;
}

static void hand_over_spans(struct queue_spans *q, const struct fed_spans *from, struct arena *mem)
{
    q->n = from->begin.n;
    q->begin_ns = from->begin.at;
    q->end_ns = from->end.at;
    q->id = from->id.at;
    q->thread = from->thread.at;
    q->process = arena_take(mem, q->n, sizeof *q->process);
}

static bool hand_over_kernels(struct fed *f)
{
    struct kernels *k = &f->s.kernels;
    if (!kernels_take(k, f->kernel_begin.n, f->s.mem))
        return false;
    for (; k->n < f->kernel_begin.n; k->n++) {
        k->launch_ns[k->n] = f->kernel_launch.at[k->n];
        k->launch_end_ns[k->n] = f->kernel_launch_end.at[k->n];
        k->launch_thread[k->n] = f->kernel_thread.at[k->n];
        k->begin_ns[k->n] = f->kernel_begin.at[k->n];
        k->end_ns[k->n] = f->kernel_begin.at[k->n] + (int64_t)(f->kernel_us.at[k->n] * 1000);
        k->dur_us[k->n] = f->kernel_us.at[k->n];
        k->is_aicore[k->n] = f->kernel_aicore.at[k->n];
    }
    return kernels_sort(k, f->s.mem);
}

static bool hand_over_device(struct fed *f)
{
    struct device *d = &f->device;
    struct ops *ops = &f->s.profile.host.ops;
    for (int kind = 0; kind < OVERLAP_KINDS; kind++)
        d->overlap.kind[kind] =
            (struct intervals){ f->overlap[kind].begin.n, f->overlap[kind].begin.at, f->overlap[kind].end.at };
    struct comm_ops *c = &d->comm.ops;
    c->n = f->receive.begin.n;
    c->begin_ns = f->receive.begin.at;
    c->end_ns = f->receive.end.at;
    c->is_shown = arena_take(f->s.mem, c->n, sizeof *c->is_shown);
    c->name = arena_take(f->s.mem, c->n, sizeof *c->name);
    d->tasks.n = ops->n = f->task_begin.n;
    d->tasks.begin_ns = f->task_begin.at;
    d->tasks.dur_ns = f->task_ns.at;
    d->tasks.op = arena_take(f->s.mem, ops->n, sizeof *d->tasks.op);
    d->tasks.host = arena_take(f->s.mem, ops->n, sizeof *d->tasks.host);
    ops->op_type = f->task_type.at;
    ops->task_type = f->task_core.at;
    if (arena_failed(f->s.mem))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        c->is_shown[i] = true;
        c->name[i] = names_addz(f->s.profile.names, "hcom_receive");
    }
    for (uint32_t i = 0; i < ops->n; i++)
        d->tasks.op[i] = d->tasks.host[i] = i;
    f->s.profile.device = d;
    f->s.profile.n_devices = 1;
    return true;
}

static bool analyse(struct fed *f)
{
    struct collection *s = &f->s;
    return op_tree_build(&s->tree, &s->framework, &s->kernels, s->profile.names, s->mem) &&
           profiler_steps_find(&s->steps, &s->framework, &s->tree, &s->kernels, s->profile.names, s->mem);
}

/* The flow events torch_to_npu: begin of the operator, begin of what it started. */
static bool flows(const struct collection_export *x, struct table *out, struct error *e)
{
    static const struct column column[] = { { .name = "operator" }, { .name = "kernel" } };
    const struct op_tree *t = &x->collection->tree;
    struct grid grid = { .n_columns = 2, .mem = x->mem };
    for (uint32_t at = 0; at < x->collection->framework.ops.n; at++)
        for (uint32_t i = t->first_started[at]; i < t->first_started[at + 1]; i++)
            grid_row(&grid, (struct cell[]){ cell_int(x->collection->framework.ops.begin_ns[t->by_begin[at]]),
                                             cell_int(x->collection->kernels.begin_ns[t->started[i]]) });
    *out = grid_table(&grid, "flows", column, x->collection->profile.names);
    (void)e;
    return true;
}

static bool statistic(const struct collection_export *x, struct table *out, struct error *e)
{
    return op_statistic_report(&x->device, out, e);
}

static bool write_table(const struct fed *f, const char *name, const char *path, struct error *e)
{
    static const struct {
        const char *name;
        bool (*build)(const struct collection_export *x, struct table *out, struct error *e);
    } known[] = {
        { "operator_details", operator_details_table },
        { "step_trace_time", step_trace_time_table },
        { "op_statistic", statistic },
        { "flows", flows },
    };
    const struct collection_export x = {
        .collection = &f->s,
        .device = { .profile = &f->s.profile, .options = &(struct output_options){ .n_threads = 1 }, .mem = f->s.mem },
        .mem = f->s.mem
    };
    struct table t = { 0 };
    struct out o;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) != 0)
            continue;
        if (!known[i].build(&x, &t, e) || !out_open(&o, path, e))
            return false;
        t.has_crlf = true;
        table_csv_header(&t, &o);
        table_csv_rows(&t, &o, 0, t.n_rows);
        return out_close(&o, e);
    }
    return error_set(e, FAULT_ASKED, "%s: there is no such table", name);
}

int main(int argc, char **argv)
{
    struct fed fed = { .s = { .mem = arena_new(), .profile = { .names = names_new(), .chip = chip_of(5) } } },
               *f = &fed;
    struct error e = { 0 };
    if (argc != 3 || !f->s.mem || !f->s.profile.names || !known_names_add(f->s.profile.names) || !read_lines(f))
        return 2;
    hand_over_ops(f);
    hand_over_spans(&f->s.framework.enqueue, &f->in, f->s.mem);
    hand_over_spans(&f->s.framework.dequeue, &f->out, f->s.mem);
    const bool ok = hand_over_kernels(f) && hand_over_device(f) && analyse(f) && write_table(f, argv[1], argv[2], &e);
    if (!ok)
        fprintf(stderr, "%s\n", e.fault ? e.text : "no memory");
    names_free(f->s.profile.names);
    arena_free(f->s.mem);
    return !ok;
}
