/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/drop_reason.h"

#include <errno.h>
#include <stddef.h>

enum drop_reason drop_reason_of(int why)
{
    static const struct {
        int why;
        enum drop_reason reason;
    } row[] = {
        { EUSERS, DROP_THREADS },    { EMFILE, DROP_DESCRIPTOR }, { ENFILE, DROP_DESCRIPTOR },
        { EACCES, DROP_PERMISSION }, { EPERM, DROP_PERMISSION },  { EROFS, DROP_PERMISSION },
        { ENOSPC, DROP_SPACE },      { EDQUOT, DROP_SPACE },      { EFBIG, DROP_SPACE },
        { ENAMETOOLONG, DROP_NAME },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].why == why)
            return row[i].reason;
    return DROP_OTHER;
}

const char *drop_reason_key(enum drop_reason reason)
{
    static const char *const key[DROP_REASONS] = {
        [DROP_FULL] = "ring_full",           [DROP_THREADS] = "too_many_threads", [DROP_DESCRIPTOR] = "no_descriptor",
        [DROP_PERMISSION] = "no_permission", [DROP_SPACE] = "no_space",           [DROP_NAME] = "name_too_long",
        [DROP_OTHER] = "not_written",
    };
    return key[reason];
}

uint64_t drop_count(const struct drop_counts *c, enum drop_reason reason, unsigned stream, uint64_t all)
{
    for (unsigned r = DROP_FULL + 1; r < DROP_REASONS; r++) { /* after a recovery, the count may be newer than `all` */
        const uint64_t n = c->n[r][stream] < all ? c->n[r][stream] : all;
        if (r == reason)
            return n;
        all -= n;
    }
    return all;
}
