/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_config.h - converts the options of a recording to those of aclprof: a mask, a group of counters, and pairs of
 * number and text.
 *
 * Options that aclprof does not have are listed in `unavailable`, so that the user is warned: the msprof command has
 * more options than its library. Samplers of the host are not requested, because the recorder has its own.
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

/* The options were checked before. */
void ascend_config_of(struct ascend_config *c, const struct ascope_options *o);

/* The text of an error code: "100042, already running"; "7" if it is unknown. Valid until the thread's next call. */
const char *ascend_error(int32_t code);

/* The bits of the mask that older releases do not know and refuse. */
uint64_t ascend_newer_bits(void);

#endif
