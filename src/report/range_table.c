/* SPDX-License-Identifier: Apache-2.0 */
#include "report/range_table.h"

#include <stdio.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "base/text/json_memory.h"

enum { MEMBER_MOST = 64 };

/* The value of a member of a JSON text; "" if it has none. */
static const char *member(const char *text, const char *key, char out[MEMBER_MOST])
{
    const char *at = strstr(text, key);
    at = at ? at + strlen(key) : "";
    at += strspn(at, "\": ");
    const size_t n = strcspn(at, "\",}");
    snprintf(out, MEMBER_MOST, "%.*s", (int)(n < MEMBER_MOST ? n : MEMBER_MOST - 1), at);
    return out;
}

/* Marks of collectives are JSON descriptions: the title is their operation, element count and type. */
static const char *range_title(const char *name, char out[3 * MEMBER_MOST])
{
    char operation[MEMBER_MOST], count[MEMBER_MOST], type[MEMBER_MOST];
    if (name[0] != '{' || !member(name, "opName", operation)[0])
        return name;
    snprintf(out, 3 * (size_t)MEMBER_MOST, "%s %s %s", operation, member(name, "count", count),
             member(name, "dataType", type));
    return out;
}

static void put_range(const struct term *t, const struct names *names, const struct range_sum *r, int columns)
{
    char number[READABLE_MOST], title[3 * MEMBER_MOST];
    const char *domain = names_text(names, r->domain), *name = range_title(names_text(names, r->name), title);
    const int prefix = r->domain == NAME_EMPTY || name == title ? 0 : term_width(domain) + 2;
    fputs("    ", t->to);
    int width = 0;
    if (prefix > 0 && prefix < columns - 4) {
        term_text(t, domain, 0);
        fputs(": ", t->to);
        width = prefix;
    }
    term_text(t, name, columns - width);
    width += term_width(name) < columns - width ? term_width(name) : columns - width;
    fprintf(t->to, "%*s %7s", columns - width, "", readable_count(number, r->n));
    const double value[] = { r->total_ns, r->total_ns / (double)r->n, (double)r->p50_ns, (double)r->p99_ns,
                             (double)r->max_ns };
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        fprintf(t->to, " %10s", readable_duration(number, value[i]));
    fputc('\n', t->to);
}

bool range_table_print(const struct term *t, const struct profile *p, const struct framework_ops *ops, size_t most)
{
    enum { WIDE = 100, NAME_NARROW = 13, NAME_WIDE = 32 };
    const int columns = t->columns == 0 || t->columns >= WIDE ? NAME_WIDE : NAME_NARROW;
    struct arena *mem = arena_new();
    struct ranges r;
    const bool done = mem && ranges_sum(&r, p, ops, mem);
    if (done && r.n > 0) {
        fprintf(t->to, "\n  %-*s %7s %10s %10s %10s %10s %10s\n", columns + 2, "ranges", "count", "total", "mean",
                "p50", "p99", "max");
        const size_t n_shown = r.n > most + 1 ? most : r.n;
        for (size_t i = 0; i < n_shown; i++)
            put_range(t, p->names, &r.at[i], columns);
        if (n_shown < r.n)
            fprintf(t->to, "    and %zu more; --top N shows them\n", r.n - n_shown);
    }
    arena_free(mem);
    return done;
}

json_t *range_table_json(const struct profile *p, const struct framework_ops *ops, size_t most)
{
    struct arena *mem = arena_new();
    struct ranges r;
    json_t *list = mem && ranges_sum(&r, p, ops, mem) ? json_array() : NULL;
    for (size_t i = 0; list && i < r.n && i < most; i++) {
        const struct range_sum *s = &r.at[i];
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:I, s:f, s:f, s:f, s:f, s:f}", "domain",
                            s->domain == NAME_EMPTY ? json_null() : text_json(names_text(p->names, s->domain)), "name",
                            text_json(names_text(p->names, s->name)), "count", (json_int_t)s->n, "total_us",
                            s->total_ns / 1000, "mean_us", s->total_ns / 1000 / (double)s->n, "p50_us",
                            (double)s->p50_ns / 1000, "p99_us", (double)s->p99_ns / 1000, "max_us",
                            (double)s->max_ns / 1000));
    }
    arena_free(mem);
    return list;
}
