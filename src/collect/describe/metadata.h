/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.h - profiler_metadata.json: what the program adds to a collection. */
#ifndef ASCOPE_COLLECT_DESCRIBE_METADATA_H
#define ASCOPE_COLLECT_DESCRIBE_METADATA_H

#include "collect/describe/json_text.h"
#include "collect/session/recorder_session.h"

/* The first n of noted_variables with their values, as an object. */
void metadata_environment(struct json_text *t, size_t n);

bool metadata_write(const struct ascope_session *s, struct error *e);
void metadata_fini(struct ascope_session *s);

#endif
