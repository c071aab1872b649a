/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "doctor/check.h"

const char *const doctor_areas[AREAS] = {
    [AREA_DEVICES] = "devices",       [AREA_HOST] = "host",   [AREA_PLACE] = "place",
    [AREA_FRAMEWORKS] = "frameworks", [AREA_TOOLS] = "tools",
};
const char *const doctor_states[FINDING_STATES] = {
    [FINDING_OK] = "ok",
    [FINDING_LIMITED] = "limited",
    [FINDING_MISSING] = "missing",
    [FINDING_NOT_APPLICABLE] = "not applicable",
};

static const struct {
    enum doctor_area area;
    const struct machine_check *checks;
} tables[] = {
    { AREA_HOST, host_checks },   { AREA_HOST, hardware_checks },
    { AREA_PLACE, place_checks }, { AREA_FRAMEWORKS, framework_checks },
    { AREA_TOOLS, tool_checks },
};

static void doctor_add(struct doctor_report *r, enum doctor_area area, bool is_needed, const struct machine_finding *f)
{
    struct doctor_finding *const d = list_add(&r->findings, r->mem);
    if (d)
        *d = (struct doctor_finding){ area, is_needed, *f };
}

/* ---- devices ---- */

static void doctor_add_device(void *to, const struct machine_finding *f)
{
    doctor_add(to, AREA_DEVICES, false, f);
}

/* Reports the devices of a kind and returns their number. A kind without examine() is reported by the result of its
 * probe. */
static unsigned kind_examine(struct doctor_report *r, const struct device_kind *kind)
{
    struct error e = { 0 };
    const unsigned n = kind->is_real ? kind->probe(&e) : 0; /* probing a simulated device would start it */
    if (kind->examine) {
        kind->examine(doctor_add_device, r);
        return n;
    }
    struct machine_finding f = { .state = n > 0 ? FINDING_OK : FINDING_NOT_APPLICABLE };
    snprintf(f.name, sizeof f.name, "%s", kind->name);
    if (n > 0)
        fact_set(&f, "%s: %u found", kind->what, n);
    else
        fact_set(&f, "%s: none found%s%s", kind->what, *e.text ? "; " : "", e.text);
    effect_set(&f, n > 0 ? "device=%s records them" : "device=%s cannot be selected", kind->name);
    doctor_add_device(r, &f);
    return n;
}

static void devices_examine(struct doctor_report *r)
{
    struct machine_finding f = { .state = FINDING_OK, .name = "device=auto" };
    for (size_t i = 0; device_kinds[i]; i++) {
        const unsigned n = kind_examine(r, device_kinds[i]);
        if (device_kinds[i]->is_real)
            place_add(&f, "%s", device_kinds[i]->name);
        if (n > 0 && !r->device) {
            r->device = device_kinds[i]->name;
            r->n_devices = n;
        }
    }
    if (!*f.place)
        place_add(&f, "no kinds of real devices in this version");
    if (r->device) {
        fact_set(&f, "selects %s", r->device);
        effect_set(
            &f,
            "the host is recorded, and the devices that the program uses, if it has loaded their libraries by then");
    } else {
        fact_set(&f, "finds no device");
        effect_set(&f, "only the host is recorded");
        f.state = FINDING_LIMITED;
    }
    doctor_add_device(r, &f);
}

/* ---- the report ---- */

static int rank(const struct doctor_finding *d)
{
    static const int by_state[FINDING_STATES] = {
        [FINDING_MISSING] = 0, [FINDING_LIMITED] = 1, [FINDING_OK] = 2, [FINDING_NOT_APPLICABLE] = 3
    };
    return (int)d->area * FINDING_STATES + by_state[d->is.state];
}

/* By area, problems first, otherwise in the order in which they were found. Insertion sort: there are a few dozen. */
static void sort(struct doctor_report *r)
{
    for (size_t i = 1; i < r->findings.n; i++) {
        const struct doctor_finding now = r->findings.at[i];
        size_t k = i;
        for (; k > 0 && rank(&r->findings.at[k - 1]) > rank(&now); k--)
            r->findings.at[k] = r->findings.at[k - 1];
        r->findings.at[k] = now;
    }
}

static void doctor_judge(struct doctor_report *r, const struct python_answer *python)
{
    const char *missing = NULL;
    size_t n_limited = 0;
    char frameworks[200];
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct doctor_finding *d = &r->findings.at[i];
        if (d->is_needed && d->is.state == FINDING_MISSING && !missing)
            missing = d->is.name;
        n_limited += d->area == AREA_HOST && (d->is.state == FINDING_LIMITED || d->is.state == FINDING_MISSING);
    }
    r->records_host = !missing;
    size_t n = 0;
    const size_t size = sizeof r->verdict;
    if (missing)
        n += (size_t)snprintf(r->verdict, size, "the host cannot be recorded: %s", missing);
    else if (n_limited > 0)
        n += (size_t)snprintf(r->verdict, size, "the host can be recorded, with %zu limit%s", n_limited,
                              n_limited == 1 ? "" : "s");
    else
        n += (size_t)snprintf(r->verdict, size, "the host can be recorded completely");
    if (r->device)
        n += (size_t)snprintf(r->verdict + n, size - n, "; %u device%s (%s)", r->n_devices,
                              r->n_devices == 1 ? "" : "s", r->device);
    else
        n += (size_t)snprintf(r->verdict + n, size - n, "; no device found");
    snprintf(r->verdict + n, size - n, "; %s",
             *frameworks_text(python, frameworks, sizeof frameworks) ? frameworks : "no PyTorch found");
}

static const char *default_out(char out[PATH_MAX])
{
    const char *const work = getenv("ASCEND_WORK_PATH");
    if (work && *work)
        snprintf(out, PATH_MAX, "%s/profiling_data", work);
    else
        snprintf(out, PATH_MAX, ".");
    return out;
}

bool doctor_examine(const struct doctor_request *r, struct doctor_report *out, struct error *e)
{
    enum { PYTHON_MS = 30000 };
    static struct python_answer python;
    char dir[PATH_MAX];
    *out = (struct doctor_report){ .mem = arena_new() };
    if (!out->mem)
        return error_no_memory(e, "the report");
    python_ask(&python, r->python ? r->python : "python3", r->limit_ms ? r->limit_ms : PYTHON_MS);
    const struct examined m = {
        .root = "", .tries = &system_tries_real, .out = r->out ? r->out : default_out(dir), .python = &python
    };
    devices_examine(out);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct machine_check *c = tables[i].checks; c->name; c++) {
            struct machine_finding f;
            check_run(c, &m, &f);
            doctor_add(out, tables[i].area, c->is_needed, &f);
        }
    sort(out);
    doctor_judge(out, &python);
    python_forget(&python);
    return !arena_failed(out->mem) || error_no_memory(e, "the report");
}

void doctor_end(struct doctor_report *r)
{
    arena_free(r->mem);
}
