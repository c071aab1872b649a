/* operator_details.h - operator_details.csv: how long each operator took on the host and on the device, by itself and with
 * all that it called. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_OPERATOR_DETAILS_H
#define ASCOPE_EXPORT_FRAMEWORK_OPERATOR_DETAILS_H

#include "export/framework/collection_export.h"

bool session_has_framework(const struct session *s);
bool session_operators_table(const struct session_export *x, struct table *out, struct error *e);

#endif
