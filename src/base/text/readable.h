/* SPDX-License-Identifier: Apache-2.0 */
/* readable.h - numbers as people read them. Each function writes a text into `out`, and returns it. */
#ifndef ASCOPE_BASE_TEXT_READABLE_H
#define ASCOPE_BASE_TEXT_READABLE_H

#include <stdint.h>

enum { READABLE_MOST = 32 };

char *readable_count(char out[READABLE_MOST], uint64_t n);     /* 12,345,678 */
char *readable_runs(char out[READABLE_MOST], double runs);     /* a mean: 0.25, 12, 1,234 */
char *readable_bytes(char out[READABLE_MOST], uint64_t bytes); /* 998 B, 1.2 KiB, 35 MiB: powers of 1024 */
char *readable_duration(char out[READABLE_MOST], double ns);   /* 75.8 us, 14.125 ms, 1.204 s, 2 min 05 s */
char *readable_time(char out[READABLE_MOST], int64_t wall_ns); /* 2024-07-03 02:17:25.939512, local */

#endif
