/* SPDX-License-Identifier: Apache-2.0 */
/* worked.h - units of work that were counted for the progress bar until now. */
#ifndef ASCOPE_TESTS_WORKED_H
#define ASCOPE_TESTS_WORKED_H

#include "base/process/progress.h"

static inline uint64_t worked(void)
{
    const struct progress p = { .until = 1,
                                .expected = UINT64_C(1) << 45 }; /* far from the end: it counts each of them */
    return (uint64_t)(progress_done(&p) * (double)p.expected + 0.5);
}

#endif
