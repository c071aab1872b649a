/* SPDX-License-Identifier: Apache-2.0 */
/* plain_json.h - reads JSON as plain values. */
#ifndef ASCOPE_LOAD_PLAIN_PLAIN_JSON_H
#define ASCOPE_LOAD_PLAIN_PLAIN_JSON_H

#include "load/plain/plain_value.h"

bool plain_json_read(struct plain *p, const char *bytes, size_t n, const char *name, struct arena *mem,
                     struct error *e);

#endif
