/* session_operators.h - operator_details.csv: how long each operator took on the host and on the device, by itself and with
 * all that it called. */
#ifndef ASCOPE_EXPORT_SESSION_OPERATORS_H
#define ASCOPE_EXPORT_SESSION_OPERATORS_H

#include "export/session.h"

bool session_has_framework(const struct session *s);
bool session_operators_table(const struct session_export *x, struct table *out, struct error *e);

#endif
