/* SPDX-License-Identifier: Apache-2.0 */
/* range_table.h - ranges marked by the user, by domain and name, as a table and as JSON. */
#ifndef ASCOPE_REPORT_RANGE_TABLE_H
#define ASCOPE_REPORT_RANGE_TABLE_H

#include <jansson.h>

#include "report/term.h"
#include "profile/framework.h"
#include "profile/profile.h"

/* Ranges of marks and of operators in the user scope; `ops` is NULL without a framework. */
bool range_table_print(const struct term *t, const struct profile *p, const struct framework_ops *ops,
                       size_t most);                                                             /* false: no memory */
json_t *range_table_json(const struct profile *p, const struct framework_ops *ops, size_t most); /* NULL: no memory */

#endif
