/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h - one thing that `ascope doctor` looked at: its state, and what that means for a recording.
 *
 * Texts are for people: a few words each, no full stop at the end, and "" where there is nothing to say.
 */
#ifndef ASCOPE_BASE_TEXT_FINDING_H
#define ASCOPE_BASE_TEXT_FINDING_H

enum finding_state {
    FINDING_OK,             /* found, and fully usable */
    FINDING_LIMITED,        /* found, but partly usable */
    FINDING_MISSING,        /* not found, or not usable at all */
    FINDING_NOT_APPLICABLE, /* this machine has no use for it */
    FINDING_STATES
};

struct machine_finding {
    enum finding_state state;
    char name[64];   /* "libascend_hal.so", "perf_event_open" */
    char fact[320];  /* what was found: "version 24.1, 8 devices", "not found" */
    char place[480]; /* where it was looked for: files and directories, in order, with ", " between them */
    char effect
        [240]; /* what is recorded because of it, or not: "system calls are recorded through the preloaded library" */
    char advice[320]; /* what to do: "sysctl kernel.perf_event_paranoid=1, or run with CAP_PERFMON" */
};

/* Takes one finding; `f` is valid during the call only. */
typedef void finding_report(void *to, const struct machine_finding *f);

#endif
