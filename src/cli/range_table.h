/* SPDX-License-Identifier: Apache-2.0 */
/* range_table.h - the ranges that the user named, by domain and name: as a table and as JSON. */
#ifndef ASCOPE_CLI_RANGE_TABLE_H
#define ASCOPE_CLI_RANGE_TABLE_H

#include <jansson.h>

#include "cli/term.h"
#include "profile/framework.h"
#include "profile/profile.h"

/* Of marks, and of operators that the user named; without a framework `ops` is NULL. */
bool range_table_print(const struct term *t, const struct profile *p, const struct framework_ops *ops,
                       size_t most);                                                             /* false: no memory */
json_t *range_table_json(const struct profile *p, const struct framework_ops *ops, size_t most); /* NULL: no memory */

#endif
