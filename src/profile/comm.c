/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/comm.h"

double comm_bandwidth_gbs(const struct comm_tasks *t, size_t i, bool is_generic)
{
    static const double giga = 1e-9;
    const double bytes = t->moved_bytes[i], ns = t->moved_ns[i];
    if (ns <= 0)
        return 0;
    if (!is_generic && !t->is_aicpu[i])
        return bytes / ns;
    return t->is_piece[i] ? bytes / 1e6 / (ns / 1e6) : bytes * giga / (ns * giga);
}
