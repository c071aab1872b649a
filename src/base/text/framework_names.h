/* SPDX-License-Identifier: Apache-2.0 */
/* framework_names.h - the frameworks and the names of their collections: each is a row, and no other code has a suffix
 * of its own.
 *
 * A collection is a directory that the profiler of a framework writes: {worker}_{pid}_{time}{suffix}. What reads and
 * writes them is elsewhere (open/framework_kinds.h).
 */
#ifndef ASCOPE_BASE_TEXT_FRAMEWORK_NAMES_H
#define ASCOPE_BASE_TEXT_FRAMEWORK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum framework_id { FRAMEWORK_PYTORCH, FRAMEWORK_MINDSPORE, FRAMEWORKS };

struct framework_name {
    const char *name;   /* for people: "PyTorch" */
    const char *suffix; /* of the names of its directories: "_ascend_pt" */
};
extern const struct framework_name framework_names[FRAMEWORKS];

/* Whether the first n bytes of a name or path end with the suffix of a framework, with something in front of it. */
bool framework_ends_name(const char *name, size_t n);

bool framework_is_in_name(const char *name); /* the suffix of one; copies may have more behind it */

/* The variables of the environment that PyTorch's collections note; the first ones are in profiler_metadata.json, too. */
enum { NOTED_VARIABLES = 9, NOTED_VARIABLES_OF_METADATA = 4 };
extern const char *const noted_variables[NOTED_VARIABLES];

/* "*_ascend_pt or *_ascend_ms": all of them, for messages. */
enum { FRAMEWORK_PATTERNS = 200 };
const char *framework_patterns(char out[FRAMEWORK_PATTERNS]);

#endif
