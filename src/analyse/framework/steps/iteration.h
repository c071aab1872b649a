/* SPDX-License-Identifier: Apache-2.0 */
/* iteration.h - what the name of an annotation says of an iteration of an inference engine: the only place that knows such names.
 *
 * vLLM:    execute_context_1(512)_generation_3(3); execute_515_context_1(sq512sk512sqsq262144sqsk262144)_generation_3(sq3sk90sqsq3sqsk90)
 * SGLang:  step[EXTEND bs=1 toks=512], step[DECODE bs=3], step[DECODE bs=3 g_sq=3 g_sqsq=3 g_sqsk=90 g_sk=90]
 * others:  prefill …, decode … with numbers behind words such as bs= and tokens=
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_ITERATION_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_ITERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum iteration_class {
    ITERATION_OTHER, /* no iteration of an engine, or one that says nothing about itself */
    ITERATION_PREFILL,
    ITERATION_DECODE,
    ITERATION_MIXED, /* of both */
    ITERATION_IDLE,  /* nothing to do */
    ITERATION_CLASSES
};

struct iteration {
    enum iteration_class class_of;
    uint64_t requests, tokens,
        kv; /* in this iteration; kv: tokens that all requests together have in the cache. 0: unknown, or none */
};

extern const char *const iteration_class_keys[ITERATION_CLASSES]; /* "decode": for people and JSON */

struct iteration iteration_of(const char *name);

/* "execute_*_generation_*": if it is a name of a known server, for reports. NULL: it is not. */
const char *iteration_server(const char *name);

/* What the time of an iteration grows with, within its class. 0: unknown. */
double iteration_size(const struct iteration *x);

/* Classes and sizes for the judge: classes are numbered from 0 on without gaps. False: there is no iteration of an
 * engine among them. */
bool iterations_sort(const struct iteration *v, size_t n, uint32_t *class_of, double *size);

#endif
