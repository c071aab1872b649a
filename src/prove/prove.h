/* SPDX-License-Identifier: Apache-2.0 */
/* prove.h - whether recordings of this machine are right: small programs with known content are recorded, exported and
 * compared with what is known of them.
 *
 * What is known: how many marks, ranges, kernels, copies and sets there are, in which order and on how many streams, the
 * sizes of copies, between which readings of the clock each of them was, and how long kernels run at least. One program
 * for the host, one for the simulated NPU, and one for each kind of real device that is there. Each records in a child
 * process: a vendor's library that crashes is a failed check.
 *
 * The report has no names and no paths: it can be sent to others.
 *     struct prove_report r;
 *     if (prove_machine("out", &r, &e)) ... r.run[0].check ...
 */
#ifndef ASCOPE_PROVE_PROVE_H
#define ASCOPE_PROVE_PROVE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/text/error.h"

enum { PROVE_CHECKS = 24, PROVE_RUNS = 5, PROVE_TEXT = 240 };
enum prove_state { PROVE_OK, PROVE_FAILED, PROVE_NOT_RUN };
struct prove_check {
    const char *name;
    enum prove_state state;
    char wanted[PROVE_TEXT], found[PROVE_TEXT];
};

struct prove_run {
    const char *device; /* "host", "sim", "cuda", "ascend" */
    bool is_simulated;
    char product[96];         /* "NVIDIA H200" */
    double clock_error_ns;    /* of the device's clock against the host's; below 0: not known */
    char trouble[PROVE_TEXT]; /* why nothing was recorded; "": it was */
    struct prove_check check[PROVE_CHECKS];
    size_t n;
};

struct prove_report {
    struct prove_run run[PROVE_RUNS];
    size_t n, n_failed; /* runs; checks, and runs with trouble */
};

/* Records into folders of `dir`, which is created, and writes ascope-prove.json there. False: nothing could be done. */
bool prove_machine(const char *dir, struct prove_report *out, struct error *e);
json_t *prove_json(const struct prove_report *r); /* what that file has; NULL: no memory */

#endif
