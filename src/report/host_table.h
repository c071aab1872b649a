/* SPDX-License-Identifier: Apache-2.0 */
/* host_table.h - the program's use of the host (CPU, memory, disk, network, system calls), as text and as JSON. */
#ifndef ASCOPE_REPORT_HOST_TABLE_H
#define ASCOPE_REPORT_HOST_TABLE_H

#include <jansson.h>

#include "report/term.h"
#include "profile/profile.h"

bool host_table_print(const struct term *t, const struct profile *p, size_t most); /* false: no memory */
json_t *host_table_json(const struct profile *p, size_t most); /* NULL: no memory; null: not sampled */

#endif
