/* SPDX-License-Identifier: Apache-2.0 */
/* step_use.h - where the time of a usual step goes: computing by class of kernel, communication, copies, data, the
 * host.
 *
 * The parts are the kinds of time of step_layers.h and add up to the step. A usual step is the mean of the steps that
 * are not slow; without such steps, of all that count; without any steps, the whole recording. Texts are static, or in
 * the arena of the findings.
 */
#ifndef ASCOPE_ANSWERS_RUN_STEP_USE_H
#define ASCOPE_ANSWERS_RUN_STEP_USE_H

#include "analyse/framework/steps/step_layers.h"

enum { USE_NAMES = 3 };
struct use_part {
    double ns;
    size_t n; /* names: the largest of this part */
    struct use_name {
        const char *name; /* of the device's computing: a class of kernels (kernel_class.h) */
        double ns;
    } most[USE_NAMES];
};

struct step_use {
    double step_ns;
    size_t n_steps; /* that it is the mean of */
    bool is_whole, is_host;
    bool knows_waits; /* of collectives; else SPENT_TRANSFER may be either */
    bool is_by_type;  /* nothing of the host was recorded: the device's types of tasks say what computes and what
                       copies */
    struct use_part part[SPENT_KINDS];
};

struct checked_rank;
bool step_use_find(struct step_use *out, const struct checked_rank *s); /* false: no memory */

const char *use_part_key(enum spent_kind kind); /* "computing": for JSON */
const char *use_part_words(const struct step_use *u, enum spent_kind kind);

#endif
