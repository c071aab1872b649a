#include "export/msprof/cann.h"

#include <inttypes.h>
#include <stdio.h>

#include "export/msprof/flow_events.h"
#include "export/scope.h"
#include "raw/host_records.h"

enum { CANN_SORT = 7 };

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

/* What kind of library an ACL call belongs to: the high half of its type. */
static const char *const acl_tag[] = { NULL,          "ACL_OP",    "ACL_MODEL", "ACL_RTS",  "ACL_OTHERS", "ACL_NN",
                                       "ACL_ASCENDC", "HOST_HCCL", NULL,        "ACL_DVPP", "ACL_GRAPH",  "ACL_ATB" };

static const struct level_name *level_of(const struct export *x, uint16_t level)
{
    if (level == LEVEL_COMMUNICATION && x->dialect == DIALECT_SEED)
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

/* Models and steps are numbers, everything else is a hash; 0 is nothing. */
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

    /* The newer presentation subtracts whole nanoseconds, the older one keeps their fractions. */
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
    if (c->n == 0 || x->hides_calls)
        return true;
    const bool *starts = arrow_starts(x);
    if (!starts)
        return error_set(e, FAULT_LIMIT, "no memory for the arrows of the timeline");
    const uint32_t pid = trace_pid(p->host.source.pid, CANN_SORT, TRACE_HOST);
    trace_process(t, pid, "CANN", "CPU", CANN_SORT);
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
        write_call(x, t, pid, i);
        char id[ARROW_ID_BYTES];
        if (starts[i])
            trace_flow(t, 's', "HostToDevice", arrow_call_id(x, (uint32_t)i, id), pid, c->thread[i], begin);
    }
    return true;
}

struct shown_calls {
    const struct profile *p;
    const uint32_t *row;
};

static struct cell cann_cell(const void *rows, size_t i, size_t column)
{
    const struct shown_calls *s = rows;
    const struct calls *c = &s->p->host.calls;
    const uint32_t row = s->row[i];
    switch (column) {
    case 0: return cell_int(source_host_ns(&s->p->host.source, c->begin[row]));
    case 1: return cell_int(source_host_ns(&s->p->host.source, c->end[row]));
    case 2: return cell_uint(c->level[row]);
    case 3: return cell_uint((uint64_t)s->p->host.source.pid << 32 | c->thread[row]);
    case 4: return cell_uint((uint64_t)row + 1);
    default: return cell_name(call_api_name(s->p, row));
    }
}

bool cann_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "startNs", "INTEGER", NULL },
        { "endNs", "INTEGER", NULL },
        { "type", "INTEGER", NULL },
        { "globalTid", "INTEGER", NULL },
        { "connectionId", "INTEGER PRIMARY KEY", NULL },
        { "name", "INTEGER", NULL },
    };
    const struct calls *c = &x->profile->host.calls;
    uint32_t *row = arena_take(x->mem, c->n, sizeof *row);
    size_t n = 0;
    if (!row)
        return error_set(e, FAULT_LIMIT, "no memory for the table CANN_API");
    for (uint32_t i = 0; i < c->n; i++)
        if (c->is_shown[i])
            row[n++] = i;
    const struct shown_calls shown = { x->profile, row };
    return db_table(
        db,
        &(struct db_table){
            .name = "CANN_API", .column = column, .n_columns = 6, .n_rows = n, .rows = &shown, .get = cann_cell },
        e);
}
