/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict_report.h"

#include <stdio.h>

#include "base/text/json_memory.h"

static void print_part(const struct job_report *r, const struct path_part *p, const struct term *t)
{
    static const char *const what[PATH_KINDS] = { "computing", "device idle", "communication" };
    printf("  %5.1f %%  %9.3f ms  %9.3f ms  %-13s ", 100 * (double)p->ns / (double)r->path_ns, (double)p->ns / 1e6,
           (double)p->saved_ns / 1e6, what[p->kind]);
    if (p->rank >= 0)
        printf(p->kind == PATH_COMMUNICATION ? "  rank %lld joins last" : "  rank %lld", (long long)p->rank);
    if (*p->name) {
        fputs(p->rank >= 0 ? p->kind == PATH_COMPUTING ? ", mostly " : ", " : "  ", stdout);
        term_text(t, p->name, 0);
    }
    if (p->group && *p->group) {
        fputs(" of ", stdout);
        term_text(t, *p->group_name ? p->group_name : p->group, 0);
    }
    putchar('\n');
}

void verdicts_print(const struct job_report *r, const struct term *t)
{
    int64_t rest = r->path_ns;
    bool has_causes = false;
    for (size_t i = 0; i < r->verdicts.n; i++) {
        fputs("  ", stdout);
        const struct verdict *const v = &r->verdicts.at[i];
        term_text(t, v->text, 0);
        if (v->about) {
            fputs("\n    ", stdout);
            term_text(t, v->about, 0);
        }
        putchar('\n');
        has_causes |= v->shape != NULL;
    }
    if (has_causes)
        fputs("  ascope why has the causes, ascope advise what to change\n", stdout);
    if (r->verdicts.n == 0)
        printf("  %s%s\n",
               r->nothing        ? r->nothing
               : r->has_compared ? "no rank, host, link, step or stage differs from its kind"
                                 : "nothing to compare: that takes two ranks or three steps with their times",
               r->nothing ? "; no link and no stage differs from its kind" : "");
    if (r->start_up) {
        fputs("  ", stdout);
        term_text(t, r->start_up, 0);
        putchar('\n');
    }
    if (!r->has_path || r->path_ns <= 0)
        return;
    printf("%scritical path%s%s%s: %.3f ms, %u segment%s on %u rank%s\n", term_ink(t, INK_BOLD),
           r->path_step ? " of step " : "", r->path_step ? r->path_step : "", term_ink(t, INK_END),
           (double)r->path_ns / 1e6, r->path_segments, r->path_segments == 1 ? "" : "s", r->path_ranks,
           r->path_ranks == 1 ? "" : "s");
    puts("    part       length   saved if 0");
    for (size_t i = 0; i < r->parts.n; i++) {
        print_part(r, &r->parts.at[i], t);
        rest -= r->parts.at[i].ns;
    }
    if (rest > 0)
        printf("  %5.1f %%  %9.3f ms                other parts\n", 100 * (double)rest / (double)r->path_ns,
               (double)rest / 1e6);
}

static json_t *rank_json(int64_t rank)
{
    return rank < 0 ? json_null() : json_integer(rank);
}

void verdicts_json(const struct job_report *r, json_t *to)
{
    json_t *verdicts = json_array(), *parts = json_array();
    for (size_t i = 0; i < r->verdicts.n; i++) {
        const struct verdict *const v = &r->verdicts.at[i];
        json_array_append_new(verdicts, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f}", "kind",
                                                  verdict_names[v->kind], "text", text_json(v->text), "about",
                                                  text_or_null(v->about), "rank", rank_json(v->rank), "other_rank",
                                                  rank_json(v->other), "step", text_or_null(v->step), "shape",
                                                  text_or_null(v->shape), "ratio", v->ratio, "ms", v->ms));
    }
    for (size_t i = 0; i < r->parts.n; i++) {
        const struct path_part *const p = &r->parts.at[i];
        json_array_append_new(parts,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "kind", path_names[p->kind], "rank",
                                        rank_json(p->rank), "name", text_json(p->name), "group", text_or_null(p->group),
                                        "group_name", text_json(p->group_name), "segments", (json_int_t)p->n, "ns",
                                        (json_int_t)p->ns, "saved_ns", (json_int_t)p->saved_ns));
    }
    json_object_set_new(to, "verdicts", verdicts);
    json_object_set_new(to, "has_compared", json_boolean(r->has_compared));
    json_object_set_new(to, "start_up", text_or_null(r->start_up));
    json_object_set_new(to, "critical_path",
                        r->has_path ? json_pack("{s:o, s:I, s:I, s:I, s:o}", "step", text_or_null(r->path_step), "ns",
                                                (json_int_t)r->path_ns, "segments", (json_int_t)r->path_segments,
                                                "ranks", (json_int_t)r->path_ranks, "parts", parts)
                                    : json_null());
    if (!r->has_path)
        json_decref(parts);
}
