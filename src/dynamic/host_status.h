/* SPDX-License-Identifier: Apache-2.0 */
/* host_status.h - who listens on which host, for `ascope dyn` on another one: DIR/.ascope_status_HOST.
 *
 * The file is written only if the job has ranks on other hosts, by the thread that looks at the configuration, each
 * time that it looks. It is replaced as a whole. A host whose processes were killed leaves its file behind; the age of
 * the file shows that it is no longer written.
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
