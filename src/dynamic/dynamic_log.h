/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_log.h - a log of two files of at most 200 KB: DIR/log/dp_{host}_{pid}_rank_{rank}.log and the one before it,
 * .log.1.
 *
 * A log that cannot be written is left alone: the job is worth more. Any thread may add lines.
 */
#ifndef ASCOPE_DYNAMIC_DYNAMIC_LOG_H
#define ASCOPE_DYNAMIC_DYNAMIC_LOG_H

#include <limits.h>
#include <pthread.h>
#include <stdint.h>

#include "ascope/base.h"
#include "base/files/kept.h"

enum { LOG_BYTES_MOST = 200 << 10 };

struct dynamic_log {
    pthread_mutex_t lock;
    struct kept file;
    bool is_open;
    uint64_t size;
    char path[PATH_MAX];
};
#define DYNAMIC_LOG_CLOSED                                                                                             \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .file = KEPT_NONE                                                           \
    }

/* prefix: "dp" or "monitor_dp". Without a log directory it stays closed. */
void dynamic_log_open(struct dynamic_log *l, const char *config_dir, const char *prefix, int32_t rank);
/* "2024-08-21 15:51:46,392 [INFO] [2127856] _dynamic_profiler_monitor.py: text", in local time. */
void dynamic_log_add(struct dynamic_log *l, enum ascope_severity severity, const char *text);
void dynamic_log_close(struct dynamic_log *l);

#endif
