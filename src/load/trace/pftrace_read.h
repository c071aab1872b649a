/* SPDX-License-Identifier: Apache-2.0 */
/* pftrace_read.h - a timeline in Perfetto's own format, as ascope export-trace writes it, converted into Chrome's JSON
 * format.
 *
 * Slices have the process and thread of their track, also those on lanes, with their arguments and flows. Files of
 * others are read as far as they keep to the same rules: one sequence, absolute times, slices that nest. Anything else
 * is a reason to refuse the file. The text is at most some hundred times as long as the file.
 */
#ifndef ASCOPE_LOAD_TRACE_PFTRACE_READ_H
#define ASCOPE_LOAD_TRACE_PFTRACE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/error.h"

bool pftrace_is_name(const char *path); /* ends with .pftrace or .perfetto-trace */

struct pftrace_text {
    int fd; /* of an unnamed file; owner: the caller */
    uint64_t bytes;
    struct losses lost;
};
/* Converts the file `fd`, until there are about `most_bytes` of text. False: see e. */
bool pftrace_read(struct pftrace_text *t, int fd, const char *path, uint64_t most_bytes, struct error *e);

#endif
