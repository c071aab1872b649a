/* SPDX-License-Identifier: Apache-2.0 */
/* host_status.h - who listens on which host, for `ascope dyn` on another one: DIR/.ascope_status_HOST.
 *
 * Written only where a job has ranks on other hosts, too, by the thread that looks at the configuration, as often as it looks: one file of
 * a host replaces the one before it in one piece. What it says is as old as its time of change, and one look more. A host whose
 * processes were killed leaves its file behind: its age shows that nobody writes it any more.
 */
#ifndef ASCOPE_DYNAMIC_HOST_STATUS_H
#define ASCOPE_DYNAMIC_HOST_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamic/board.h"

#define HOST_STATUS_PREFIX ".ascope_status_"
enum { HOST_NAME_BYTES = 256 };

void host_status_write(const char *config_dir, uint32_t poll_ms, const struct board_rank *rank, size_t n);
void host_status_remove(const char *config_dir);
void host_status_name(char name[HOST_NAME_BYTES]); /* of this host, as in the names of the files */

struct host_status {
    uint32_t poll_ms;
    double age_s; /* by the clock of this host */
    size_t n;
    struct board_rank rank[BOARD_RANKS];
};
/* False: it cannot be read, or is something else. */
bool host_status_read(const char *path, struct host_status *out);

#endif
