/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - the other tracer of bench_record, where it is installed: LTTng-UST with a range as two of its events. */
#ifndef ASCOPE_BENCH_RECORD_H
#define ASCOPE_BENCH_RECORD_H

#include <stdbool.h>

const char *lttng_absent(void); /* why it cannot be compared at all; NULL: it can */

/* A daemon and a session of its own, which writes below `dir`; false: not recorded, with why. */
bool lttng_start(const char *dir, const char **why);
void lttng_stop(void);

void lttng_range(const char *message, unsigned long n); /* so many, one after the other */

#endif
