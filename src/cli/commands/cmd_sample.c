/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/out.h"
#include "base/text/json_memory.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "live/live_samples.h"
#include "report/term.h"

enum { HZ = 100, SECONDS = 10, SHOWN = 20 };

struct sample_line {
    name_id name;
    uint64_t n;
};

static int sample_line_order(const void *a, const void *b)
{
    const struct sample_line *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : x->name > y->name ? 1 : -1;
}

/* Those that were seen, the most often first. NULL: no memory. */
static struct sample_line *sample_lines(const struct live_table *t, bool is_on, size_t *n, struct arena *mem)
{
    struct sample_line *const line = arena_take(mem, t->row.n + 1, sizeof *line);
    *n = 0;
    for (size_t i = 0; line && i < t->row.n; i++) {
        const uint64_t count = is_on ? t->row.at[i].on : t->row.at[i].off;
        if (count > 0)
            line[(*n)++] = (struct sample_line){ (name_id)i, count };
    }
    if (*n > 0)
        qsort(line, *n, sizeof *line, sample_line_order);
    return line;
}

/* Half of the interval that contains the true share in 95 of 100 cases, in percent, if samples are independent. */
static double sample_error(uint64_t n, uint64_t all)
{
    const double p = all ? (double)n / (double)all : 0;
    return all ? 196 * sqrt(p * (1 - p) / (double)all) : 0;
}

static uint64_t sample_total_of(const struct live_samples *s, name_id name, bool is_on)
{
    return name >= s->total.row.n ? 0 : is_on ? s->total.row.at[name].on : s->total.row.at[name].off;
}

static void sample_print_table(const struct term *t, const struct live_samples *s, bool is_on, size_t most)
{
    size_t n;
    const uint64_t all = is_on ? s->all.on : s->all.off;
    const struct sample_line *const line = sample_lines(&s->self, is_on, &n, s->mem);
    fprintf(t->to, "\n  %s: %llu samples of threads\n", is_on ? "on a processor, or ready" : "waiting",
            (unsigned long long)all);
    for (size_t i = 0; line && i < n && i < most; i++) {
        fprintf(t->to, "    %5.1f %% +- %4.1f  with callees %5.1f %%  ", 100 * (double)line[i].n / (double)all,
                sample_error(line[i].n, all), 100 * (double)sample_total_of(s, line[i].name, is_on) / (double)all);
        term_text(t, names_text(s->names, line[i].name), 0);
        fputc('\n', t->to);
    }
}

/* As flame-graph tools read them: "on;PROCESS;THREAD;FRAME;... COUNT". */
static bool sample_write(const struct live_samples *s, const char *path, struct error *e)
{
    struct out o;
    if (!out_open_named(&o, path, e))
        return false;
    for (int is_on = 1; is_on >= 0; is_on--) {
        size_t n;
        const struct sample_line *const line = sample_lines(&s->stack, is_on, &n, s->mem);
        for (size_t i = 0; line && i < n; i++) {
            out_shown(&o, is_on ? "on;" : "off;");
            out_shown(&o, names_text(s->names, line[i].name));
            out_char(&o, ' ');
            out_u64(&o, line[i].n);
            out_char(&o, '\n');
        }
    }
    return out_close(&o, e);
}

static json_t *sample_frames_json(const struct live_samples *s, bool is_on, size_t most)
{
    size_t n;
    const struct sample_line *const line = sample_lines(&s->self, is_on, &n, s->mem);
    json_t *const list = json_array();
    for (size_t i = 0; line && i < n && i < most; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:I, s:I, s:f}", "frame", text_json(names_text(s->names, line[i].name)), "samples",
                            (json_int_t)line[i].n, "with_callees", (json_int_t)sample_total_of(s, line[i].name, is_on),
                            "error_percent", sample_error(line[i].n, is_on ? s->all.on : s->all.off)));
    return list;
}

static json_t *sample_json(const struct live_samples *s, size_t most, const char *path)
{
    return json_pack("{s:f, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "seconds", s->seconds, "looks", (json_int_t)s->n_ticks,
                     "late", (json_int_t)s->n_late, "on", (json_int_t)s->all.on, "off", (json_int_t)s->all.off, "file",
                     text_or_null(path), "on_frames", sample_frames_json(s, true, most), "off_frames",
                     sample_frames_json(s, false, most));
}

static enum exit_status sample_report(struct arguments *a, const struct live_samples *s, const char *path)
{
    const size_t most = a->top ? a->top : SHOWN;
    struct term t;
    if (a->json) {
        json_t *list = json_array();
        json_list_add(&list, sample_json(s, most, path));
        return json_report(a, "samplings", list, STATUS_DONE);
    }
    if (a->quiet)
        return STATUS_DONE;
    term_init(&t, stdout);
    fprintf(t.to, "%llu looks in %.1f s at %llu process%s with %llu thread%s of Python", (unsigned long long)s->n_ticks,
            s->seconds, (unsigned long long)s->n_processes, s->n_processes == 1 ? "" : "es",
            (unsigned long long)s->n_threads, s->n_threads == 1 ? "" : "s");
    if (s->n_late > 0)
        fprintf(t.to, "; %llu were left out, because others took too long", (unsigned long long)s->n_late);
    fputc('\n', t.to);
    sample_print_table(&t, s, true, most);
    sample_print_table(&t, s, false, most);
    if (path) {
        fputs("\n  ", t.to);
        term_text(&t, path, 0);
        fputs(": stacks, for flame-graph tools\n", t.to);
    }
    return STATUS_DONE;
}

static enum exit_status sample_take(struct arguments *a, pid_t pid, const char *path)
{
    struct live_samples s;
    struct error e = { 0 };
    enum exit_status status = STATUS_NOTHING;
    if (!live_samples_init(&s) ||
        !live_samples_take(&s, pid, a->sample.hz ? a->sample.hz : HZ, a->sample.seconds ? a->sample.seconds : SECONDS))
        complain_no_memory("the samples");
    else if (s.all.on + s.all.off == 0)
        complain("process %d: no stacks of Python: %s", (int)pid, s.why_not ? s.why_not : "it runs none");
    else if (path && !sample_write(&s, path, &e))
        complain("%s", e.text);
    else
        status = sample_report(a, &s, path);
    live_samples_fini(&s);
    return status;
}

int run_sample(struct arguments *a)
{
    char *end = NULL;
    const long pid = a->n_words > 0 ? strtol(a->word[0], &end, 10) : 0;
    if (a->n_words < 1 || a->n_words > 2 || pid <= 0 || pid > INT32_MAX || *end) {
        complain("sample: expected the id of a process, and optionally a file");
        return exit_code(a->face, STATUS_USAGE);
    }
    const enum exit_status status = sample_take(a, (pid_t)pid, a->n_words > 1 ? a->word[1] : NULL);
    if (status == STATUS_NOTHING && a->json)
        return exit_code(a->face, json_report(a, "samplings", json_array(), status));
    return exit_code(a->face, status);
}
