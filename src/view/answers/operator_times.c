/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/operator_times.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyse/flow/flows.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"

const char *const topic_names[TOPICS] = { "", "operator", "step", "kernel", "collective", "overlap" };

/* ---- topics ------------------------------------------------------------------------------------------------------ */

static bool operator_times_is_one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(text, *list))
        list++;
    return *list;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* What the slices of a track are, by its names. */
static enum topic track_topic(const char *process, const char *thread, bool has_category)
{
    static const char *const operators[] = { "MindSpore", "CPU functions", NULL };
    static const char *const devices[] = { "Ascend Hardware", "GPU", NULL };
    static const char *const collectives[] = { "HCCL", "NCCL", "Communication", NULL };
    const size_t n = strlen(thread);
    const bool is_marks = n > 6 && strcmp(thread + n - 6, " marks") == 0;
    if (operator_times_is_one_of(process, devices) && begins_with(thread, "Stream") && !is_marks)
        return TOPIC_KERNEL;
    if (operator_times_is_one_of(process, collectives) && !begins_with(thread, "Plane"))
        return TOPIC_COLLECTIVE;
    if (strcmp(process, "CPU OP") == 0 || (!has_category && operator_times_is_one_of(process, operators)))
        return TOPIC_OPERATOR;
    return begins_with(process, "Overlap Analysis") ? TOPIC_OVERLAP : TOPIC_OTHER;
}

/* What the slices of a category are, if the track does not matter; TOPICS: it does. */
static enum topic category_topic(const char *category, const char *process)
{
    static const char *const operators[] = { "cpu_op", "op", "Operator", NULL };
    static const char *const kernels[] = { "kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset", NULL };
    if (!*category)
        return TOPICS;
    if (strcmp(category, "TASK") == 0)
        return begins_with(process, "NPU ") || begins_with(process, "GPU ") ? TOPIC_KERNEL : TOPIC_OTHER;
    return operator_times_is_one_of(category, operators)  ? TOPIC_OPERATOR
           : operator_times_is_one_of(category, kernels)  ? TOPIC_KERNEL
           : strcmp(category, "COMMUNICATION_OP") == 0    ? TOPIC_COLLECTIVE
           : strcmp(category, "OVERLAP_ANALYSIS") == 0    ? TOPIC_OVERLAP
           : strcmp(category, "STEP_TIME") == 0           ? TOPIC_STEP
           : strcmp(category, "user_annotation") == 0     ? TOPIC_OTHER
           : strcmp(category, "gpu_user_annotation") == 0 ? TOPIC_OTHER
                                                          : TOPICS;
}

/* Tasks of a stream that are marks and waits. */
static bool is_no_work(const char *name)
{
    static const char *const begins[] = { "event_", "notify_", "notify ", "profiling_" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncasecmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return strcmp(name, "MsTx") == 0;
}

/* A task of an NPU that has only its type as its name is a part of a collective (SDMA, AI_CORE), unless it copies.
 * Those of databases have no type besides. */
static bool is_nameless(const struct chrome_trace *t, size_t slice, const char *name, bool is_of_database)
{
    static const char *const key[] = { "Task Type", "taskType" };
    struct json_span value[2];
    for (const char *c = name; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            return false; /* no type */
    if (strcmp(name, "MEMCPY_ASYNC") == 0)
        return false;
    json_find_each(chrome_slice_args(t, slice), key, value, 2);
    const struct json_span type = value[0].at ? value[0] : value[1];
    return type.at ? json_is(type, name) : is_of_database;
}

/* The name of a process without the title of its rank. */
static const char *process_text(const struct view_input *in, uint32_t process)
{
    const struct chrome_trace *t = in->timeline.trace;
    const struct chrome_process *p = &t->processes.at[process];
    const struct view_rank *rank = view_rank_of(in, process);
    const char *text = names_text(t->names, p->name != NAME_EMPTY ? p->name : p->id.text);
    const size_t n = rank ? strlen(rank->title) : 0;
    return rank && strncmp(text, rank->title, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

enum topic slice_topic(const struct view_input *in, size_t slice)
{
    const struct chrome_trace *t = in->timeline.trace;
    const struct chrome_track *track = &t->tracks.at[t->slices.track[slice]];
    const char *name = names_text(t->names, t->slices.name[slice]), *process = process_text(in, track->process);
    const char *category = names_text(t->names, t->slices.category[slice]);
    enum topic topic = category_topic(category, process);
    if (topic == TOPICS)
        topic = track_topic(process, names_text(t->names, track->name != NAME_EMPTY ? track->name : track->id.text),
                            *category);
    if (topic == TOPIC_KERNEL && (is_no_work(name) || is_nameless(t, slice, name, strcmp(category, "TASK") == 0)))
        return TOPIC_OTHER;
    return begins_with(name, "ProfilerStep#") ? TOPIC_STEP : topic;
}

/* Slices of a track with the same category are of one topic but for their names: the last answer is used again. */
static void topics_find(struct operator_times *o, const struct view_input *in)
{
    const struct chrome_slices *s = &in->timeline.trace->slices;
    for (size_t i = 0; i < s->n; i++) {
        const bool is_same = i > 0 && s->track[i] == s->track[i - 1] && s->category[i] == s->category[i - 1] &&
                             s->name[i] == s->name[i - 1];
        o->topic[i] = is_same ? o->topic[i - 1] : (uint8_t)slice_topic(in, i);
    }
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* The operator of a slice of the host: itself, or the innermost one around it. */
static uint32_t operator_at(const struct operator_times *o, const uint32_t *parent, uint32_t slice)
{
    return o->topic[slice] == TOPIC_OPERATOR ? slice : parent[slice];
}

/* The operator that launched a slice of a device, by at most `hops` flow events. */
static uint32_t launcher_of(const struct operator_times *o, const struct view_timeline *t, const uint32_t *parent,
                            uint32_t slice, int hops)
{
    const size_t n = t->flows.n, first = order_first_u32(t->flow_by_to, n, t->flows.to, slice);
    for (size_t i = first; i < n && t->flows.to[t->flow_by_to[i]] == slice; i++) {
        const uint32_t found = operator_at(o, parent, t->flows.from[t->flow_by_to[i]]);
        if (found != CHROME_NO_PARENT)
            return found;
    }
    for (size_t i = first; hops > 1 && i < n && t->flows.to[t->flow_by_to[i]] == slice; i++) {
        const uint32_t found = launcher_of(o, t, parent, t->flows.from[t->flow_by_to[i]], hops - 1);
        if (found != CHROME_NO_PARENT)
            return found;
    }
    return CHROME_NO_PARENT;
}

static void device_times_find(struct operator_times *o, const struct view_timeline *t, const uint32_t *parent)
{
    enum { HOPS = 2 }; /* in a database: operator → node → task */
    const struct chrome_slices *s = &t->trace->slices;
    for (uint32_t i = 0; i < s->n; i++) {
        const bool is_of_device = o->topic[i] == TOPIC_KERNEL || o->topic[i] == TOPIC_COLLECTIVE;
        const uint32_t by = is_of_device ? launcher_of(o, t, parent, i, HOPS) : CHROME_NO_PARENT;
        if (by == CHROME_NO_PARENT)
            continue;
        struct operator_time *of = &o->at[o->number[by] - 1];
        of->device_self_ns = stamp_add(of->device_self_ns, s->dur_ns[i]);
        of->device_ns = of->device_self_ns;
    }
    for (size_t i = s->n; i-- > 0;) /* what is inside follows what is around it */
        if (o->number[i] && parent[i] != CHROME_NO_PARENT) {
            struct operator_time *around = &o->at[o->number[parent[i]] - 1];
            around->device_ns = stamp_add(around->device_ns, o->at[o->number[i] - 1].device_ns);
        }
}

static bool times_find(struct operator_times *o, const struct view_input *in)
{
    const struct chrome_slices *s = &in->timeline.trace->slices;
    uint32_t *parent = malloc((s->n + 1) * sizeof *parent);
    int64_t *self_ns = malloc((s->n + 1) * sizeof *self_ns);
    bool *counts = malloc(s->n + 1);
    o->topic = arena_take(o->mem, s->n, sizeof *o->topic);
    o->number = arena_take(o->mem, s->n, sizeof *o->number);
    bool done = parent && self_ns && counts && !arena_failed(o->mem);
    if (done)
        topics_find(o, in);
    for (size_t i = 0; done && i < s->n; i++) {
        counts[i] = o->topic[i] == TOPIC_OPERATOR;
        o->number[i] = counts[i] ? (uint32_t)++o->n : 0;
    }
    done = done && ((o->at = arena_take(o->mem, o->n, sizeof *o->at)) || o->n == 0);
    if (done) {
        chrome_self(self_ns, parent, s,
                    &(struct chrome_rows){ .end = s->n, .counts = counts, .begin_ns = INT64_MIN, .end_ns = INT64_MAX });
        for (size_t i = 0; i < s->n; i++)
            if (counts[i])
                o->at[o->number[i] - 1].self_ns = self_ns[i];
        device_times_find(o, &in->timeline, parent);
    }
    free(parent);
    free(self_ns);
    free(counts);
    return done;
}

const struct operator_times *operator_times_of(const struct view_input *in)
{
    static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER; /* one thread finds them, the others wait for it */
    struct operator_times *o = in->operators;
    if (!o || atomic_load_explicit(&o->is_known, memory_order_acquire))
        return o;
    pthread_mutex_lock(&finding);
    if (!atomic_load_explicit(&o->is_known, memory_order_relaxed)) {
        o->mem = arena_new();
        const bool done = o->mem && times_find(o, in);
        if (!done) { /* the next question tries again */
            arena_free(o->mem);
            *o = (struct operator_times){ 0 };
        }
        atomic_store_explicit(&o->is_known, done, memory_order_release);
    }
    pthread_mutex_unlock(&finding);
    return atomic_load_explicit(&o->is_known, memory_order_acquire) ? o : NULL;
}

void operator_times_free(struct operator_times *o)
{
    if (o)
        arena_free(o->mem);
}
