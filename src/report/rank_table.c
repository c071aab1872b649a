/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rank_table.h"

#include "base/text/json_memory.h"
#include "report/step_table.h"
#include "report/judge_report.h"

enum { TABLE_COLUMNS = 60, BAR_CELLS = 20, LEAST_NAME = 20 };

static void put_rank(const struct term *t, const struct rank_row *r, bool is_slow)
{
    char text[READABLE_MOST] = "-";
    if (r->of.has_rank)
        snprintf(text, sizeof text, "%lld%s", (long long)r->of.rank, r->is_twice ? "*" : "");
    fprintf(t->to, "%s%-6s%s", is_slow ? term_ink(t, INK_WARN) : "", text, is_slow ? term_ink(t, INK_END) : "");
}

static int64_t whole_ns(const struct rank_row *r)
{
    int64_t sum = 0;
    for (int i = 0; i < STEP_PARTS; i++)
        sum += r->part_ns[i];
    return sum;
}

static void put_row(const struct term *t, const struct rank_row *r, bool is_slow, int64_t longest_ns)
{
    char number[READABLE_MOST];
    put_rank(t, r, is_slow);
    fprintf(t->to, " %5zu %10s", r->of.n, readable_duration(number, (double)r->time_ns));
    fprintf(t->to, " %10s",
            readable_duration(number, (double)(r->part_ns[STEP_COMPUTING] + r->part_ns[STEP_OVERLAPPED])));
    fprintf(t->to, " %10s", readable_duration(number, (double)r->part_ns[STEP_COMMUNICATION]));
    fprintf(t->to, " %10s  ", readable_duration(number, (double)r->part_ns[STEP_FREE]));
    step_bar_print(t, r->part_ns, longest_ns, BAR_CELLS);
    const int left = t->columns - TABLE_COLUMNS - BAR_CELLS - 2;
    if (t->columns == 0 || left >= LEAST_NAME) {
        const double cells = longest_ns > 0 ? (double)whole_ns(r) / (double)longest_ns * BAR_CELLS : 0;
        fprintf(t->to, "%*s  ", BAR_CELLS - (int)(cells + 0.5), "");
        term_text(t, r->name, t->columns == 0 ? 0 : left);
    }
    if (r->n_lost > 0)
        fprintf(t->to, "  %s%s lost%s", term_ink(t, INK_WARN), readable_count(number, r->n_lost), term_ink(t, INK_END));
    fputc('\n', t->to);
}

void rank_table_print(const struct term *t, const struct job_steps *j, const struct explained_run *x,
                      const struct rank_row *row, const uint32_t *order, size_t n, struct arena *mem)
{
    int64_t longest_ns = 0;
    bool has_twice = false;
    for (size_t i = 0; i < n; i++) {
        longest_ns = whole_ns(&row[i]) > longest_ns ? whole_ns(&row[i]) : longest_ns;
        has_twice |= row[i].is_twice;
    }
    fprintf(t->to, "%-6s %5s %10s %10s %10s %10s  the median step of each rank\n", "rank", "steps", "step", "computing",
            "communic.", "free");
    for (size_t i = 0; i < n; i++)
        put_row(t, &row[order[i]], rank_row_finding(j, order[i]), longest_ns);
    fputs("\nsorted by step time minus communication, where fast ranks wait\n", t->to);
    fputs(has_twice ? "* several directories have this rank\n" : "", t->to);
    judge_put(t, x, 0, mem);
}

json_t *rank_table_json(const struct job_steps *j, const struct rank_row *row, const uint32_t *order, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct rank_row *r = &row[order[i]];
        const struct slow *f = rank_row_finding(j, order[i]);
        json_t *one =
            json_pack("{s:o, s:o, s:I, s:f, s:b, s:b}", "rank", r->of.has_rank ? json_integer(r->of.rank) : json_null(),
                      "directory", text_json(r->name), "steps", (json_int_t)r->of.n, "time_us",
                      (double)r->time_ns / 1000, "slow", f != NULL, "duplicate", r->is_twice);
        for (int c = 0; c < STEP_PARTS; c++)
            json_object_set_new(one, step_part_key[c], json_real((double)r->part_ns[c] / 1000));
        json_object_set_new(one, "more_us", f ? json_real(f->excess_ns / 1000) : json_null());
        json_object_set_new(one, "more_in",
                            f && f->part != JUDGE_ALL ? json_string(judged_part_keys[f->part]) : json_null());
        json_array_append_new(list, one);
    }
    return list;
}
