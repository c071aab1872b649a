/* SPDX-License-Identifier: Apache-2.0 */
#include "report/place_report.h"

#include <inttypes.h>

#include "base/text/json_memory.h"

enum { WHAT_COLUMNS = 60, VIEW_MOST = 80 };

bool place_is_known(const struct why_place *p)
{
    return p->process || p->event || p->is_gap;
}

/* The part of the viewer's address that leads there: view/pages/main.js reads it. */
static const char *view_text(const struct why_place *p, char out[VIEW_MOST])
{
    snprintf(out, VIEW_MOST, "#page=timeline&moment=%" PRId64 "+%" PRId64, p->begin_ns, p->dur_ns);
    return out;
}

static void put_between(const struct term *t, const char *where, const char *before, const char *after, int indent)
{
    if (!before && !after)
        return;
    fprintf(t->to, "%*s%s: ", indent, "", where);
    fputs(before ? "after " : "before ", t->to);
    term_text(t, before ? before : after, WHAT_COLUMNS);
    if (before && after) {
        fputs(", before ", t->to);
        term_text(t, after, WHAT_COLUMNS);
    }
    fputc('\n', t->to);
}

void place_put(const struct term *t, const struct why_place *p, int indent)
{
    char number[READABLE_MOST];
    if (!place_is_known(p))
        return;
    fprintf(t->to, "%*sat %" PRId64 ".%03d us", indent, "", p->begin_ns / 1000, (int)(p->begin_ns % 1000));
    const char *before = " (";
    if (p->step) {
        fprintf(t->to, "%s%s of step ", before, readable_duration(number, (double)p->in_step_ns));
        term_text(t, p->step, 0);
        before = ", ";
    }
    if (p->in_recording_ns >= 0)
        fprintf(t->to, "%s%s of the recording", before, readable_duration(number, (double)p->in_recording_ns));
    fprintf(t->to, "%s, %s", p->step || p->in_recording_ns >= 0 ? ")" : "",
            readable_duration(number, (double)p->dur_ns));
    const char *const part[] = { p->process, p->thread, p->event };
    before = ": ";
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i]) {
            fputs(before, t->to);
            term_text(t, part[i], WHAT_COLUMNS);
            before = ", ";
        }
    fputc('\n', t->to);
    put_between(t, "host", p->host_before, p->host_after, indent + 2);
    put_between(t, "device", p->device_before, p->device_after, indent + 2);
}

void place_put_view(const struct term *t, const struct why_place *p, const char *path, int indent)
{
    char text[VIEW_MOST];
    if (!place_is_known(p))
        return;
    fprintf(t->to, "%*sto see it: ascope view ", indent, "");
    term_text(t, path, 0);
    fprintf(t->to, ", and append %s to its address\n", view_text(p, text));
}

json_t *place_json(const struct why_place *p)
{
    char text[VIEW_MOST];
    if (!place_is_known(p))
        return json_null();
    json_t *place =
        json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "begin_ns", (json_int_t)p->begin_ns, "dur_ns",
                  (json_int_t)p->dur_ns, "process", text_or_null(p->process), "thread", text_or_null(p->thread),
                  "event", text_or_null(p->event), "step", text_or_null(p->step), "in_step_ns",
                  p->step ? json_integer(p->in_step_ns) : json_null(), "in_recording_ns",
                  p->in_recording_ns >= 0 ? json_integer(p->in_recording_ns) : json_null(), "view", view_text(p, text));
    if (p->is_gap)
        json_object_set_new(place, "between",
                            json_pack("{s:o, s:o, s:o, s:o}", "host_before", text_or_null(p->host_before), "host_after",
                                      text_or_null(p->host_after), "device_before", text_or_null(p->device_before),
                                      "device_after", text_or_null(p->device_after)));
    return place;
}
