/* SPDX-License-Identifier: Apache-2.0 */
/* sample_json.h - sample.json of a PROF directory: what the recording was asked for, as the reference's collector says it. */
#ifndef ASCOPE_COLLECT_SAMPLE_JSON_H
#define ASCOPE_COLLECT_SAMPLE_JSON_H

#include "collect/json_text.h"
#include "collect/recorder_session.h"

void sample_json_put(struct json_text *t, const struct ascope_session *s, const struct session_device *d);

#endif
