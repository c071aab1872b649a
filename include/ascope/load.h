/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - options of a session from what others configure profiling with: the profiler part of acl.json, and
 * profiling_options of TensorFlow.
 *
 *     struct ascope_options o;
 *     bool is_on;
 *     ascope_options_init(&o);
 *     if (ascope_options_load(&o, "acl.json", ASCOPE_FRONT_END_ACL_JSON, &is_on, &e) && is_on)
 *         session = ascope_session_new(&o, &e);
 *
 * What the vendor's own checks accept is accepted, and what they refuse is refused: docs/tensorflow.md has every key.
 * Where the vendor's code and its option reference differ, a warning names the difference (ascope_on_message()).
 */
#ifndef ASCOPE_LOAD_H
#define ASCOPE_LOAD_H

#include "ascope/recorder_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file, or a text of so many bytes. front_end: ASCOPE_FRONT_END_TENSORFLOW (profiling_options),
 * ASCOPE_FRONT_END_ACL_JSON, or 0: acl.json if there is a member "profiler", else profiling_options. Options that the
 * text does not have a key for stay as they are, those that it does not set get the front end's default; the layout
 * becomes ASCOPE_LAYOUT_PROF. *is_on, which may be NULL: false if acl.json leaves profiling off. Texts are copied as by
 * ascope_options_set(). Errors: false, and e: "file:line:column: key: problem; what is expected [code of the vendor's
 * message]"; the options are as before. Threads: any, each with options of its own. */
ASCOPE_API bool ascope_options_load(struct ascope_options *o, const char *file, uint32_t front_end, bool *is_on,
                                    struct ascope_error *e);
ASCOPE_API bool ascope_options_load_text(struct ascope_options *o, const char *text, size_t bytes, uint32_t front_end,
                                         bool *is_on, struct ascope_error *e);

#ifdef __cplusplus
}
#endif
#endif
