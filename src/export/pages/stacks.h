/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the time of operators by the stacks that called them: as lines for flame-graph tools, and as a flame graph. */
#ifndef ASCOPE_EXPORT_PAGES_STACKS_H
#define ASCOPE_EXPORT_PAGES_STACKS_H

#include "analyse/framework/frames.h"

/* One line for each operator that has a stack and took some time: frames from the outermost in, with ";" between them, a
 * blank, whole microseconds. No line break behind the last. *n_lines is 0: no file was written. With a path of NULL none is, and
 * the lines are only counted. */
bool stacks_write(const struct collection *s, enum time_metric metric, const char *path, uint64_t *n_lines,
                  struct error *e);

#endif
