/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

#include "base/text/json_memory.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "doctor/doctor.h"
#include "prove/prove.h"
#include "report/term.h"

/* ---- for people ---- */

enum { NAME_COLUMNS = 18, STATE_COLUMNS = 9, INDENT = 2 + STATE_COLUMNS + NAME_COLUMNS };

static void put_more(const struct term *t, const char *label, const char *text)
{
    if (!*text)
        return;
    fprintf(t->to, "%*s%s%s", INDENT, "", term_ink(t, INK_DIM), label);
    term_text(t, text, 0);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
}

static void put_finding(const struct term *t, const struct doctor_finding *d)
{
    const struct machine_finding *const f = &d->is;
    static const struct {
        const char *word;
        enum ink ink;
    } state[FINDING_STATES] = {
        [FINDING_OK] = { "ok", INK_GOOD },
        [FINDING_LIMITED] = { "limited", INK_WARN },
        [FINDING_MISSING] = { "missing", INK_BAD },
        [FINDING_NOT_APPLICABLE] = { "-", INK_DIM },
    };
    fprintf(t->to, "  %s%-*s%s", term_ink(t, state[f->state].ink), STATE_COLUMNS, state[f->state].word,
            term_ink(t, INK_END));
    term_text(t, f->name, 0);
    const int width = term_width(f->name);
    fprintf(t->to, "%*s", width < NAME_COLUMNS ? NAME_COLUMNS - width : 1, "");
    term_text(t, f->fact, 0);
    fputc('\n', t->to);
    put_more(t, "", f->effect);
    put_more(t, "advice: ", f->advice);
    if (f->state != FINDING_OK && (f->state != FINDING_NOT_APPLICABLE || d->area == AREA_DEVICES))
        put_more(t, "looked at: ", f->place);
}

static void doctor_put_text(const struct term *t, const struct doctor_report *r)
{
    fprintf(t->to, "%sThis machine: ", term_ink(t, INK_BOLD));
    term_text(t, r->verdict, 0);
    fprintf(t->to, ".%s\n", term_ink(t, INK_END));
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct doctor_finding *d = &r->findings.at[i];
        if (i == 0 || d[-1].area != d->area)
            fprintf(t->to, "\n%s%s%s\n", term_ink(t, INK_BOLD), doctor_areas[d->area], term_ink(t, INK_END));
        put_finding(t, d);
    }
}

/* ---- for machines ---- */

static json_t *finding_json(const struct doctor_finding *d)
{
    return json_pack("{s:s, s:o, s:s, s:b, s:o, s:o, s:o, s:o}", "area", doctor_areas[d->area], "name",
                     text_json(d->is.name), "state", doctor_states[d->is.state], "needed", d->is_needed, "fact",
                     text_json(d->is.fact), "effect", text_json(d->is.effect), "advice", text_json(d->is.advice),
                     "looked_at", text_json(d->is.place));
}

static enum exit_status put_json(const struct arguments *a, const struct doctor_report *r, enum exit_status status)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < r->findings.n; i++)
        json_array_append_new(list, finding_json(&r->findings.at[i]));
    json_t *const more = json_pack("{s:o, s:b, s:s?, s:i}", "verdict", text_json(r->verdict), "records_host",
                                   r->records_host, "auto_device", r->device, "devices_found", (int)r->n_devices);
    return json_report_more(a, "checks", list, more, status);
}

/* ---- programs with known content ---- */

static void prove_put_run(const struct term *t, const struct prove_run *run)
{
    size_t n_ok = 0;
    for (size_t i = 0; i < run->n; i++)
        n_ok += run->check[i].state == PROVE_OK;
    fprintf(t->to, "\n%s%s%s", term_ink(t, INK_BOLD), run->device, term_ink(t, INK_END));
    fputs(*run->product ? ": " : "", t->to);
    term_text(t, run->product, 0);
    fprintf(t->to, "%s; ", run->is_simulated ? ", simulated" : "");
    if (*run->trouble)
        term_text(t, run->trouble, 0);
    else
        fprintf(t->to, "%zu of %zu checks passed", n_ok, run->n);
    if (run->clock_error_ns >= 0)
        fprintf(t->to, "; its clock is known to %.0f ns", run->clock_error_ns);
    fputc('\n', t->to);
    for (size_t i = 0; i < run->n; i++) {
        const struct prove_check *c = &run->check[i];
        const bool is_ok = c->state == PROVE_OK;
        fprintf(t->to, "  %s%-8s%s%-46s", term_ink(t, is_ok ? INK_GOOD : INK_BAD), is_ok ? "ok" : "FAILED",
                term_ink(t, INK_END), c->name);
        term_text(t, c->found, 0);
        if (!is_ok) {
            fputs("; wanted ", t->to);
            term_text(t, c->wanted, 0);
        }
        fputc('\n', t->to);
    }
}

static enum exit_status prove(struct arguments *a)
{
    struct prove_report r;
    struct error e = { 0 };
    struct term t;
    if (!prove_machine(a->prove_dir, &r, &e)) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    term_init(&t, stdout);
    const enum exit_status status = r.n_failed > 0 ? STATUS_NOTHING : STATUS_DONE;
    if (a->json) {
        json_t *const all = prove_json(&r), *const list = json_incref(json_object_get(all, "runs"));
        json_object_del(all, "runs");
        return json_report_more(a, "runs", list, all, status);
    }
    for (size_t i = 0; i < r.n && !a->quiet; i++)
        prove_put_run(&t, &r.run[i]);
    return status;
}

int run_doctor(struct arguments *a)
{
    struct doctor_report r;
    struct error e = { 0 };
    struct term t;
    const struct doctor_request asked = { .out = a->options.out_dir, .python = a->python };
    if (a->n_words > 0) {
        complain("%s: unexpected argument; see ascope help doctor", a->word[0]);
        return exit_code(a->face, STATUS_USAGE);
    }
    if (a->prove_dir)
        return exit_code(a->face, prove(a));
    enum exit_status status = STATUS_NOTHING;
    if (!doctor_examine(&asked, &r, &e)) {
        complain("%s", e.text);
    } else {
        status = r.records_host ? STATUS_DONE : STATUS_NOTHING;
        term_init(&t, stdout);
        if (a->json)
            status = put_json(a, &r, status);
        else if (!a->quiet)
            doctor_put_text(&t, &r);
    }
    doctor_end(&r);
    return exit_code(a->face, status);
}
