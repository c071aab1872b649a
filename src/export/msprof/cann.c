/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <inttypes.h>
#include <stdio.h>

#include "export/msprof/tracks/prof_trace.h"
#include "export/scope.h"
#include "raw/host_records.h"

static const struct level_name {
    uint16_t level;
    const char *layer, *text;
} level_names[] = {
    { LEVEL_ACL, "AscendCL", "acl" },        { LEVEL_MODEL, "Model", "model" },
    { LEVEL_NODE, "Node", "node" },          { LEVEL_COMMUNICATION, "Communication", "communication" },
    { LEVEL_RUNTIME, "Runtime", "runtime" },
};
static const struct level_name seed_communication = { LEVEL_COMMUNICATION, "Hccl", "hccl" },
                               no_level = { 0, "Api", "" };

/* The kind of library that an ACL call belongs to, by the high half of its type. */
static const char *const acl_tag[] = { NULL,          "ACL_OP",    "ACL_MODEL", "ACL_RTS",  "ACL_OTHERS", "ACL_NN",
                                       "ACL_ASCENDC", "HOST_HCCL", NULL,        "ACL_DVPP", "ACL_GRAPH",  "ACL_ATB" };

static const struct level_name *level_of(const struct export *x, uint16_t level)
{
    if (level == LEVEL_COMMUNICATION && x->options->dialect == DIALECT_DOCUMENTED)
        return &seed_communication;
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++)
        if (level_names[i].level == level)
            return &level_names[i];
    return &no_level;
}

const char *call_level_text(const struct export *x, uint16_t level)
{
    return level_of(x, level)->text;
}

static name_id type_of(const struct profile *p, size_t row)
{
    return dictionary_type(&p->dictionary, p->host.calls.level[row], p->host.calls.type[row]);
}

/* The item of a call: a number for models and steps, the hash of a name for all others; 0 means none. */
static name_id item_of(const struct profile *p, size_t row, name_id type)
{
    const struct calls *c = &p->host.calls;
    const uint64_t item = c->item[row];
    if (item == 0)
        return NAME_ZERO;
    const bool is_number = c->level[row] == LEVEL_MODEL || (c->level[row] == LEVEL_NODE && type == NAME_STEP_INFO);
    return is_number ? names_number(p->names, item) : dictionary_hash(&p->dictionary, item);
}

name_id call_api_name(const struct profile *p, size_t row)
{
    const name_id type = type_of(p, row);
    return p->host.calls.level[row] == LEVEL_COMMUNICATION ? item_of(p, row, type) : type;
}

static void write_call(const struct export *x, struct trace *t, uint32_t pid, size_t row)
{
    const struct profile *p = x->profile;
    const struct calls *c = &p->host.calls;
    const struct source *s = &p->host.source;
    const int64_t begin = source_host_ns(s, c->begin[row]), end = source_host_ns(s, c->end[row]);
    const name_id type = type_of(p, row), item = item_of(p, row, type);
    const name_id api = c->level[row] == LEVEL_COMMUNICATION ? item : type;
    const bool is_acl = c->level[row] == LEVEL_ACL;
    const uint32_t tag = c->type[row] >> 16;
    const char *mode = is_acl && tag < sizeof acl_tag / sizeof *acl_tag ? acl_tag[tag] : NULL;

    /* The newer presentation subtracts times in whole nanoseconds, the older one converts the ticks between them. */
    const double dur_ns = x->is_generic && c->end[row] > c->begin[row]
                              ? ticks_to_ns_exact(s->host_clock.tick, c->end[row] - c->begin[row])
                              : (double)(end - begin);
    trace_slice_prefixed(t, level_of(x, c->level[row])->layer, api, pid, c->thread[row], begin, dur_ns);
    trace_args(t);
    trace_arg_uint(t, "Thread Id", c->thread[row]);
    if (mode)
        trace_arg_word(t, "Mode", mode);
    else if (is_acl)
        trace_arg_name(t, "Mode", names_number(p->names, tag));
    else
        trace_arg_name(t, "Mode", type);
    trace_arg_word(t, "level", call_level_text(x, c->level[row]));
    if (is_acl)
        trace_arg_name(t, "id", type);
    else
        trace_arg_word(t, "id", "0");
    trace_arg_name(t, "item_id", item);
    trace_arg_uint(t, "connection_id", row + 1);
    trace_end(t);
}

bool cann_track(const struct export *x, struct trace *t, struct error *e)
{
    const struct profile *p = x->profile;
    const struct calls *c = &p->host.calls;
    if (c->n == 0)
        return true;
    const bool *starts = flow_starts(x);
    if (!starts)
        return error_no_memory(e, "the flow events of the timeline");
    const uint32_t pid = trace_pid(p->host.source.pid, PLACE_CANN, TRACE_HOST);
    trace_process(t, pid, chip_words(p->chip)->stack, "CPU", PLACE_CANN);
    for (size_t i = 0; i < c->n_threads; i++) {
        const uint32_t thread = c->thread[c->first_of_thread[i]];
        char name[32];
        snprintf(name, sizeof name, "Thread %" PRIu32, thread);
        trace_thread(t, pid, thread, name, thread);
    }
    for (size_t i = 0; i < c->n; i++) {
        const int64_t begin = source_host_ns(&p->host.source, c->begin[i]);
        if (!scope_has_call(x, SCOPE_HOST, i))
            continue;
        if (!x->hides_calls)
            write_call(x, t, pid, i);
        char id[FLOW_ID_BYTES];
        if (starts[i])
            trace_flow_id(t, 's', "HostToDevice", flow_call_id(x, (uint32_t)i, id), pid, c->thread[i], begin);
    }
    return true;
}

CELL_GETTER(call_begin, struct profile, cell_int(source_host_ns(&r->host.source, r->host.calls.begin[i])))
CELL_GETTER(call_end, struct profile, cell_int(source_host_ns(&r->host.source, r->host.calls.end[i])))
CELL_GETTER(call_level, struct profile, cell_uint(r->host.calls.level[i]))
CELL_GETTER(call_tid, struct profile, cell_uint((uint64_t)r->host.source.pid << 32 | r->host.calls.thread[i]))
CELL_GETTER(call_connection, struct profile, cell_uint((uint64_t)i + 1))
CELL_GETTER(call_name, struct profile, cell_name(call_api_name(r, (uint32_t)i)))

bool cann_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "startNs", "INTEGER", call_begin },
        { "endNs", "INTEGER", call_end },
        { "type", "INTEGER", call_level },
        { "globalTid", "INTEGER", call_tid },
        { "connectionId", "INTEGER PRIMARY KEY", call_connection },
        { "name", "INTEGER", call_name },
    };
    const struct calls *c = &x->profile->host.calls;
    uint32_t *shown = arena_take(x->mem, c->n, sizeof *shown);
    size_t n = 0;
    if (!shown)
        return error_no_memory(e, "CANN_API");
    for (uint32_t i = 0; i < c->n; i++)
        if (c->is_shown[i])
            shown[n++] = i;
    const struct db_table t = {
        .name = "CANN_API", TABLE_COLUMNS(column), .n_rows = n, .rows = x->profile, .shown = shown
    };
    return db_table(db, &t, e);
}
