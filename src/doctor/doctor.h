/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - the report of `ascope doctor`: runs all tables of checks on this machine and summarises them in a verdict.
 *
 * Only the Python interpreter and the examinations of device kinds start processes, each a separate one.
 */
#ifndef ASCOPE_DOCTOR_DOCTOR_H
#define ASCOPE_DOCTOR_DOCTOR_H

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "base/text/finding.h"

enum doctor_area { AREA_DEVICES, AREA_HOST, AREA_PLACE, AREA_FRAMEWORKS, AREA_TOOLS, AREAS };
extern const char *const doctor_areas[AREAS];           /* "devices", … */
extern const char *const doctor_states[FINDING_STATES]; /* "ok", "limited", "missing", "not applicable" */

struct doctor_request {
    const char *out;    /* the directory for recordings; NULL: the recorder's default */
    const char *python; /* a path or a name; NULL: python3 */
    unsigned limit_ms;  /* time limit for Python; 0: 30 s */
};

struct doctor_finding {
    enum doctor_area area;
    bool is_needed; /* if its state is missing, the host cannot be recorded */
    struct machine_finding is;
};

struct doctor_report {
    LIST(struct doctor_finding) findings; /* by area, those with problems first */
    bool records_host;
    const char *device; /* the kind that device=auto selects; NULL: none */
    unsigned n_devices;
    char verdict[600];
    struct arena *mem;
};

bool doctor_examine(const struct doctor_request *r, struct doctor_report *out, struct error *e); /* false: no memory */
void doctor_end(struct doctor_report *r);

#endif
