/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_kinds.h - what a trace of torch.profiler says about itself: kinds of slices by their categories and names, its
 * rank. */
#ifndef ASCOPE_ANSWERS_RUN_CHROME_KINDS_H
#define ASCOPE_ANSWERS_RUN_CHROME_KINDS_H

#include "profile/chrome_trace.h"

enum slice_kind {
    SLICE_OTHER,
    SLICE_UNKNOWN, /* of a device, of a category or a type of tasks that is not known: see chrome_unknown() */
    SLICE_OPERATOR,
    SLICE_ANNOTATION, /* of the user, on the host */
    SLICE_PYTHON,     /* a function */
    SLICE_GC,         /* a garbage collection */
    SLICE_CALL,       /* of the vendor's libraries */
    SLICE_KERNEL,     /* this and all that follow: of the device */
    SLICE_COLLECTIVE, /* a kernel that communicates */
    SLICE_COPY,
    /* Of trace_view.json, where tasks have no categories: */
    SLICE_TASK,         /* a kernel on its stream */
    SLICE_COMPUTING,    /* a time in which kernels ran, of the track "Overlap Analysis" */
    SLICE_COMMUNICATING /* the same of communication */
};

struct chrome_kinds {
    const struct chrome_trace *t;
    uint8_t *of_category; /* by name: its kind + 1; 0: not known yet */
    uint8_t *of_name;     /* the same, of names of kernels and tasks */
    bool is_npu;          /* the device is an NPU */
    bool is_timeline;     /* trace_view.json: not written by torch.profiler */
};

bool chrome_kinds_init(struct chrome_kinds *k, const struct chrome_trace *t, struct arena *mem); /* false: no memory */
enum slice_kind chrome_kind(const struct chrome_kinds *k, size_t slice);

/* Counts the slices of unknown kinds of device work as losses of the trace, with their names. False: no memory. */
bool chrome_unknown(struct chrome_trace *t);

bool chrome_is_collective(const char *kernel);
/* In trace_view.json: whether a slice is a collective on the track of its group. Its tasks are on tracks of planes. */
bool chrome_is_on_group(const struct chrome_trace *t, size_t slice);
/* A call of a backend of torch.distributed on the host: "gloo:all_reduce". */
bool chrome_is_host_collective(const struct chrome_kinds *k, size_t slice);
const char *chrome_step_name(const char *name); /* "3" of "ProfilerStep#3"; NULL: it is no step */

/* The number that an operator has in common with its calls and kernels; before 2022 its name had a small letter on
 * kernels. False: it has none. */
bool chrome_external_id(const struct chrome_trace *t, size_t slice, uint64_t *out);
/* The number that a call has in common with what it launched on the device. False: it has none. */
bool chrome_correlation(const struct chrome_trace *t, size_t slice, uint64_t *out);

bool chrome_rank(const struct chrome_trace *t, int64_t *rank); /* false: the trace does not say */
int64_t chrome_world(const struct chrome_trace *t);            /* ranks of the job; 0: the trace does not say */

#endif
