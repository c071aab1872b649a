/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rank_table.h"

#include "cli/step_table.h"
#include "cli/summary.h"

enum { TABLE_COLUMNS = 60, BAR_CELLS = 20, LEAST_NAME = 20 };

static void put_rank(const struct term *t, const struct rank_row *r)
{
    char text[READABLE_MOST] = "-";
    if (r->has_rank)
        snprintf(text, sizeof text, "%lld%s", (long long)r->rank, r->is_twice ? "*" : "");
    fprintf(t->to, "%s%-6s%s", r->is_slow ? term_ink(t, INK_WARN) : "", text, r->is_slow ? term_ink(t, INK_END) : "");
}

static int64_t whole_ns(const struct rank_row *r)
{
    int64_t sum = 0;
    for (int i = 0; i < STEP_PARTS; i++)
        sum += r->part_ns[i];
    return sum;
}

/* Prints a line below a slow rank: by how much it is slower, and in which part of the step. */
static void put_slow(const struct term *t, const struct rank_row *r)
{
    char number[READABLE_MOST];
    const bool is_computing = r->part == STEP_COMPUTING;
    const char *part = is_computing ? (r->is_host ? "in operators" : "computing")
                                    : (r->is_host ? "outside operators" : "free, waiting for the host");
    fprintf(t->to, "       %sslow:%s +%s %s", term_ink(t, INK_WARN), term_ink(t, INK_END),
            readable_duration(number, (double)r->more_ns), part);
    if (r->median_part_ns > 0)
        fprintf(t->to, ", %.2f x the median of all ranks",
                (double)(r->median_part_ns + r->more_ns) / (double)r->median_part_ns);
    fputc('\n', t->to);
}

static void put_row(const struct term *t, const struct rank_row *r, int64_t longest_ns)
{
    char number[READABLE_MOST];
    put_rank(t, r);
    fprintf(t->to, " %5zu %10s", r->n_steps, readable_duration(number, (double)r->time_ns));
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

static void put_footnotes(const struct term *t, const struct rank_row *row, size_t n)
{
    size_t n_slow = 0;
    bool has_twice = false;
    for (size_t i = 0; i < n; i++) {
        n_slow += row[i].is_slow;
        has_twice |= row[i].is_twice;
    }
    fputs("\nslowest first, by the step without its communication, in which fast ranks wait for slow ones", t->to);
    fputs(n_slow > 0 ? "" : n > 2 ? "; no rank is slow" : "", t->to);
    fputs(has_twice ? "\n* several directories have this rank" : "", t->to);
    fputc('\n', t->to);
}

void rank_table_print(const struct term *t, const struct rank_row *row, const uint32_t *order, size_t n)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < n; i++)
        longest_ns = whole_ns(&row[i]) > longest_ns ? whole_ns(&row[i]) : longest_ns;
    fprintf(t->to, "%-6s %5s %10s %10s %10s %10s  the median step of each rank\n", "rank", "steps", "step", "computing",
            "communic.", "free");
    for (size_t i = 0; i < n; i++) {
        put_row(t, &row[order[i]], longest_ns);
        if (row[order[i]].is_slow)
            put_slow(t, &row[order[i]]);
    }
    put_footnotes(t, row, n);
}

json_t *rank_table_json(const struct rank_row *row, const uint32_t *order, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct rank_row *r = &row[order[i]];
        json_t *one =
            json_pack("{s:o, s:o, s:I, s:f, s:b, s:b}", "rank", r->has_rank ? json_integer(r->rank) : json_null(),
                      "directory", text_json(r->name), "steps", (json_int_t)r->n_steps, "time_us",
                      (double)r->time_ns / 1000, "slow", r->is_slow, "duplicate", r->is_twice);
        for (int c = 0; c < STEP_PARTS; c++)
            json_object_set_new(one, step_part_key[c], json_real((double)r->part_ns[c] / 1000));
        json_object_set_new(one, "more_in",
                            r->is_slow ? json_string(r->part == STEP_COMPUTING ? "computing" : "free") : json_null());
        json_object_set_new(one, "more_us", r->is_slow ? json_real((double)r->more_ns / 1000) : json_null());
        json_array_append_new(list, one);
    }
    return list;
}
