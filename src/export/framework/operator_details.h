/* SPDX-License-Identifier: Apache-2.0 */
/* operator_details.h - operator_details.csv: host and device time of each operator, own and with everything that it
 * called. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_OPERATOR_DETAILS_H
#define ASCOPE_EXPORT_FRAMEWORK_OPERATOR_DETAILS_H

#include "export/framework/collection_export.h"

bool collection_has_framework(const struct collection *s);
bool operator_details_table(const struct collection_export *x, struct table *out, struct error *e);

#endif
