/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - what a process is doing in its job, laid out for a reader outside (`ascope hang`).
 *
 * A front end has one `struct ascope_live` in memory that stays, under the symbol `ascope_live` of its library, and
 * keeps it up to date with plain stores. A reader finds the symbol and copies the memory (process_vm_readv): the
 * process does nothing for it, so that a stuck, spinning or stopped one can be read, too. A copy may be torn; readers
 * bound every number. Not part of the stable interface: a reader of another `version` reads nothing.
 */
#ifndef ASCOPE_LIVE_H
#define ASCOPE_LIVE_H

#include <stdint.h>

enum {
    ASCOPE_LIVE_VERSION = 1,
    ASCOPE_LIVE_GROUPS = 64,
    ASCOPE_LIVE_CALLS = 256,
    ASCOPE_LIVE_MEMBERS = 16384,
    ASCOPE_LIVE_NAME = 64,
};
#define ASCOPE_LIVE_MAGIC UINT64_C(0x6576696c65706373)

/* ISSUED: asynchronous, and nobody waits for it yet. */
enum ascope_live_state { ASCOPE_LIVE_UNUSED, ASCOPE_LIVE_ISSUED, ASCOPE_LIVE_WAITS, ASCOPE_LIVE_DONE };

struct ascope_live_group {
    char name[ASCOPE_LIVE_NAME], desc[ASCOPE_LIVE_NAME];
    uint32_t first, n; /* of its members in `member`; n is 0: not known */
    uint64_t n_calls;  /* collectives so far: the number of the next one */
};

struct ascope_live_call {
    uint32_t group, state; /* enum ascope_live_state */
    uint64_t number;       /* in its group, from 0; of a transfer: between these two ranks, in this direction */
    int32_t from, to;      /* of a transfer: ranks of the job, -1: any; -2: it is a collective */
    uint32_t thread;       /* of the kernel */
    uint32_t reserved;
    uint64_t n_elements;
    char kind[24], type[16];
};

struct ascope_live {
    uint64_t magic;
    uint32_t version, bytes;
    int32_t pid;  /* a child of a fork has a copy, which is not its own */
    int32_t rank; /* -1: not known */
    uint64_t n_steps, n_calls;
    uint64_t n_done; /* changes with each call that ends */
    uint32_t n_groups, n_members;
    struct ascope_live_group group[ASCOPE_LIVE_GROUPS];
    uint32_t member[ASCOPE_LIVE_MEMBERS];
    struct ascope_live_call call[ASCOPE_LIVE_CALLS]; /* the last ones: n_calls % ASCOPE_LIVE_CALLS is next */
};

#endif
