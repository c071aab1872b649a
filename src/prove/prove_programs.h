/* SPDX-License-Identifier: Apache-2.0 */
/* prove_programs.h - the programs whose content is known, and what is known of it.
 *
 * A program runs in a child process and leaves its facts in memory that both share. Times are ns of CLOCK_REALTIME,
 * read by the program before and after what it records.
 */
#ifndef ASCOPE_PROVE_PROVE_PROGRAMS_H
#define ASCOPE_PROVE_PROVE_PROGRAMS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { PROVE_MARKS = 100, PROVE_RANGES = 20, PROVE_KERNELS = 40, PROVE_COPIES = 10, PROVE_SETS = 4, PROVE_STREAMS = 2 };

struct prove_span {
    uint64_t before_ns, after_ns;
};

struct prove_facts {
    char parent[PATH_MAX]; /* in: where the collection is made */
    char path[PATH_MAX];   /* of the collection; "": there is none */
    char trouble[200];
    struct prove_span mark[PROVE_MARKS]; /* "prove mark 0", … */
    struct {
        struct prove_span begin, end;
    } range[PROVE_RANGES]; /* "prove range 0", …, on a second thread */
    unsigned n_kernels, n_copies, n_sets;
    bool names_kernels;                      /* kernel i is "prove_kernel_i"; false: all are "prove_spin" */
    struct prove_span kernel[PROVE_KERNELS]; /* launched, and certainly ended; i runs on stream i % PROVE_STREAMS */
    uint64_t kernel_ns[PROVE_KERNELS];       /* it runs at least as long; 0: not known */
    uint64_t copy_bytes[PROVE_COPIES];       /* from the host to the device */
};

/* NULL: device "none", the host alone. Programs for devices record them by that kind. */
typedef void prove_program(void *facts);
prove_program prove_host, prove_sim, prove_cuda, prove_ascend;

#endif
