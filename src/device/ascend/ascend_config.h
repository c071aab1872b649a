/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_config.h - the options of a recording as aclprof takes them: a mask, a group of counters, and pairs of number and text.
 *
 * What aclprof cannot be asked for is left out and named, so that nobody waits for it: the msprof command has more switches than its
 * library. Samplers of the host are the recorder's own, and not asked for twice.
 */
#ifndef ASCOPE_DEVICE_ASCEND_ASCEND_CONFIG_H
#define ASCOPE_DEVICE_ASCEND_ASCEND_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ascope/session.h"

enum { ASCEND_PAIRS = 16, ASCEND_TEXT = 257 }; /* a text has 256 bytes at most */
struct ascend_config {
    uint64_t mask;
    int32_t metrics;
    size_t n_pairs;
    struct ascend_pair {
        int32_t type;
        const char *option; /* for people: "sys_io_freq" */
        char text[ASCEND_TEXT];
    } pair[ASCEND_PAIRS];
    char unavailable[512]; /* options that are on and that aclprof does not have, with ", " between them; "" */
};

/* Of options that were checked. */
void ascend_config_of(struct ascend_config *c, const struct ascope_options *o);

/* "100042, already running"; "7" for a number that nobody knows. Lent by the thread until it asks again. */
const char *ascend_error(int32_t code);

/* What a release may not know yet: without it an older one accepts the mask. */
uint64_t ascend_newer_bits(void);

#endif
