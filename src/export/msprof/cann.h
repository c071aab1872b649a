/* SPDX-License-Identifier: Apache-2.0 */
/* cann.h - the calls of the host: the CANN process of the timeline and the CANN_API table. */
#ifndef ASCOPE_EXPORT_MSPROF_CANN_H
#define ASCOPE_EXPORT_MSPROF_CANN_H

#include "export/export.h"

bool cann_track(const struct export *x, struct trace *t, struct error *e);
bool cann_db(const struct export *x, struct db *db, struct error *e);

/* The name of a call, looked up in the dictionary each time: a million calls share a few hundred names. */
name_id call_api_name(const struct profile *p, size_t row);
const char *call_level_text(const struct export *x, uint16_t level); /* "acl", or "" */

#endif
