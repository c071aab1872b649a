/* SPDX-License-Identifier: Apache-2.0 */
#include "report/loss_report.h"

#include "base/text/json_memory.h"
#include "base/text/readable.h"

static void loss_print(const struct term *t, const struct losses *l, enum loss why)
{
    char n[READABLE_MOST];
    fprintf(t->to, "    %11s %s", readable_count(n, l->by[why].n), loss_text(why));
    if (l->by[why].file) {
        fprintf(t->to, "%s, %s ", term_ink(t, INK_DIM),
                loss_place(why) == LOSS_REPORTED_BY ? "according to" : "first:");
        term_text(t, l->by[why].file, 0);
        if (loss_place(why) == LOSS_AT_BYTE)
            fprintf(t->to, ":%llu", (unsigned long long)l->by[why].first_at);
        fputs(term_ink(t, INK_END), t->to);
    }
    fputc('\n', t->to);
}

void losses_print(const struct term *t, const struct losses *l)
{
    static const struct {
        bool is_damage, is_reported; /* by the collector */
        enum ink ink;
        const char *heading;
    } part[] = {
        { true, true, INK_WARN, "lost while recording" },
        { true, false, INK_WARN, "damaged and skipped" },
        { false, true, INK_DIM, "not recorded (expected)" },
        { false, false, INK_DIM, "ignored (expected)" },
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        bool is_first = true;
        for (int why = 0; why < LOSS_KINDS; why++) {
            if (l->by[why].n == 0 || loss_is_damage((enum loss)why) != part[i].is_damage ||
                (loss_place((enum loss)why) == LOSS_REPORTED_BY) != part[i].is_reported)
                continue;
            if (is_first)
                fprintf(t->to, "\n  %s%s%s\n", term_ink(t, part[i].ink), part[i].heading, term_ink(t, INK_END));
            is_first = false;
            loss_print(t, l, (enum loss)why);
        }
    }
}

void losses_complain(const char *path, const struct losses *l)
{
    for (int why = 0; why < LOSS_KINDS; why++) {
        char n[READABLE_MOST], place[32] = "";
        if (l->by[why].n == 0 || !loss_is_damage((enum loss)why))
            continue;
        if (loss_place((enum loss)why) == LOSS_AT_BYTE)
            snprintf(place, sizeof place, ":%llu", (unsigned long long)l->by[why].first_at);
        complain("%s: %s %s%s%s%s; they are missing from the results", path, readable_count(n, l->by[why].n),
                 loss_text((enum loss)why), l->by[why].file ? ", first: " : "", l->by[why].file ? l->by[why].file : "",
                 l->by[why].file ? place : "");
    }
}

json_t *losses_json(const struct losses *l)
{
    json_t *list = json_array();
    for (int why = 0; why < LOSS_KINDS; why++)
        if (l->by[why].n > 0)
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:b, s:I, s:o, s:I}", "reason", loss_key((enum loss)why),
                                            "text", loss_text((enum loss)why), "damage", loss_is_damage((enum loss)why),
                                            "count", (json_int_t)l->by[why].n, "file", text_or_null(l->by[why].file),
                                            "offset", (json_int_t)l->by[why].first_at));
    return list;
}
