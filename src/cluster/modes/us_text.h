/* SPDX-License-Identifier: Apache-2.0 */
/* us_text.h - microseconds as recipes print them inside of texts. */
#ifndef ASCOPE_CLUSTER_MODES_US_TEXT_H
#define ASCOPE_CLUSTER_MODES_US_TEXT_H

#include <stdint.h>

#include "base/memory/arena.h"

/* A point of time, exact: "1717211066001392.62", "1717211066001392". NULL: no memory. */
const char *us_decimal(struct arena *mem, int64_t ns);

/* A duration as Python prints a number: "12.0", "-1.024". */
enum { US_TEXT = 32 };
void us_real_text(char to[US_TEXT], int64_t ns);

#endif
