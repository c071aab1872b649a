/* SPDX-License-Identifier: Apache-2.0 */
/* gate_ci.h - the result of `ascope gate` in the forms that CI systems read.
 *
 * All have the same cases (gate_cases()). Names of kernels in them may contain anything: they are escaped.
 */
#ifndef ASCOPE_REPORT_GATE_GATE_CI_H
#define ASCOPE_REPORT_GATE_GATE_CI_H

#include "report/gate/gate_report.h"

struct gate_ci {
    const struct gate_case *c;
    size_t n;
    const char *path; /* of the last new run, as it was given */
};

/* Commands of a workflow of GitHub: annotations. What passes is one notice. */
void gate_annotate(FILE *to, const struct gate_ci *x);
bool gate_junit_write(const struct gate_ci *x, const char *path, struct error *e);
/* SARIF 2.1.0. What passes is no result. */
bool gate_sarif_write(const struct gate_ci *x, const char *path, struct error *e);

#endif
