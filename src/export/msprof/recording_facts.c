/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <ctype.h>
#include <inttypes.h>

/* A copy in which `letter` is applied to ASCII letters and digits, and everything else is "_": names come from a
 * file. */
static const char *word(struct arena *mem, const char *text, int (*letter)(int))
{
    char *copy = arena_text(mem, text, strlen(text));
    for (char *c = copy; c && *c; c++)
        *c = isalnum((unsigned char)*c) && (unsigned char)*c < 0x80 ? (char)letter((unsigned char)*c) : '_';
    return copy;
}

struct facts_of {
    struct recording_facts *to;
    struct arena *mem;
};

static void recording_facts_add(struct facts_of f, const char *name, const char *value, bool is_number)
{
    struct recording_fact *fact = name && value ? list_add(&f.to->list, f.mem) : NULL;
    if (fact)
        *fact = (struct recording_fact){ name, value, is_number };
}

static void add_text(struct facts_of f, const char *name, const char *value)
{
    if (*value)
        recording_facts_add(f, name, value, false);
}

static void add_count(struct facts_of f, const char *name, uint64_t n)
{
    if (n != NOT_KNOWN)
        recording_facts_add(f, name, arena_printf(f.mem, "%" PRIu64, n), true);
}

static void add_real(struct facts_of f, const char *name, double v)
{
    if (!isnan(v))
        recording_facts_add(f, name, arena_printf(f.mem, "%.9g", v), true);
}

struct recording_facts recording_facts(const struct collector *c, struct arena *mem)
{
    struct recording_facts facts = { 0 };
    const struct facts_of f = { &facts, mem };
    if (!c->is_there)
        return facts;
    add_text(f, "collector", c->version);
    add_text(f, "collector_device", c->device);
    if (c->is_simulated)
        add_count(f, "simulated", 1);
    add_text(f, "ended", collector_end_word[c->ended]);
    add_text(f, "clock", collector_clock_word[c->clock]);
    add_real(f, "clock_mhz", c->mhz);
    add_count(f, "clock_start_uncertainty_ns", c->start_uncertainty_ns);
    add_count(f, "clock_stop_uncertainty_ns", c->stop_uncertainty_ns);
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct collector_device *d = &c->devices[i];
        const struct {
            const char *name;
            uint64_t n;
        } count[] = { { "start_uncertainty_ns", d->start_uncertainty_ns },
                      { "stop_uncertainty_ns", d->stop_uncertainty_ns } };
        const struct {
            const char *name;
            double v;
        } real[] = { { "mhz", d->mhz }, { "drift_ppm", d->drift_ppm } };
        for (size_t k = 0; k < 2; k++)
            add_count(f, arena_printf(mem, "device_%" PRIu64 "_%s", d->id, count[k].name), count[k].n);
        for (size_t k = 0; k < 2; k++)
            add_real(f, arena_printf(mem, "device_%" PRIu64 "_%s", d->id, real[k].name), real[k].v);
    }
    add_count(f, "written_records", c->records);
    add_count(f, "written_bytes", c->bytes);
    add_count(f, "threads", c->threads);
    for (size_t i = 0; i < c->n_dropped; i++)
        if (c->dropped[i].n > 0) {
            const bool is_usual = strcmp(c->dropped[i].reason, loss_key(LOSS_RING_FULL)) == 0;
            add_count(f,
                      arena_printf(mem, "dropped_%s%s%s", word(mem, c->dropped[i].what, tolower), is_usual ? "" : "_",
                                   is_usual ? "" : word(mem, c->dropped[i].reason, tolower)),
                      c->dropped[i].n);
        }
    add_count(f, "aged_slices", c->aged_slices);
    add_count(f, "aged_bytes", c->aged_bytes);
    add_count(f, "open_ranges", c->open_ranges);
    add_count(f, "hook_ns", c->hook_ns);
    add_count(f, "writer_lag_most_ns", c->lag_most_ns);
    add_count(f, "rings_fill_most_percent", c->fill_most_percent);
    return facts;
}

void recording_metadata(struct grid *g, const struct collector *c)
{
    const struct recording_facts facts = recording_facts(c, g->mem);
    for (size_t i = 0; i < facts.list.n; i++) {
        const char *name = word(g->mem, facts.list.at[i].name, toupper);
        const char *row = name ? arena_printf(g->mem, "ASCOPE_%s", name) : NULL;
        if (row)
            grid_row(g, (struct cell[]){ cell_text(row), cell_text(facts.list.at[i].value) });
    }
}

bool recording_steps_db(struct db *db, const struct collector *c, struct arena *mem, struct error *e)
{
    static const struct db_column column[] = {
        { "step", "INTEGER", NULL },    { "records", "INTEGER", NULL }, { "bytes", "INTEGER", NULL },
        { "dropped", "INTEGER", NULL }, { "hookNs", "INTEGER", NULL },  { "lagMostNs", "INTEGER", NULL },
    };
    struct grid g = { .n_columns = sizeof column / sizeof *column, .mem = mem };
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct collector_step *s = &c->steps[i];
        grid_row(&g, (struct cell[]){ cell_int(s->step), cell_uint(s->records), cell_uint(s->bytes),
                                      cell_uint(s->dropped), cell_uint(s->hook_ns), cell_uint(s->lag_most_ns) });
    }
    return c->n_steps == 0 || grid_db(db, "ASCOPE_STEP_COST", column, &g, e);
}

void recording_trace(struct trace *t, const struct recording_facts *facts)
{
    if (facts->list.n == 0)
        return;
    trace_metadata(t, "ascope_recording");
    for (size_t i = 0; i < facts->list.n; i++) {
        const struct recording_fact *f = &facts->list.at[i];
        if (f->is_number) {
            trace_key(t, f->name, strlen(f->name));
            out_bytes(t->out, f->value, strlen(f->value));
        } else {
            trace_arg_text(t, f->name, f->value);
        }
    }
    trace_end(t);
}
