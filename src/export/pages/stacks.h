/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the time of operators by the stacks that called them: as lines for flame-graph tools, and as a flame
 * graph. */
#ifndef ASCOPE_EXPORT_PAGES_STACKS_H
#define ASCOPE_EXPORT_PAGES_STACKS_H

#include "analyse/framework/frames.h"

/* Writes one line for each operator with a stack and a time above 0: the frames from the outermost one on, separated by
 * ";", a blank, and whole microseconds. The last line has no line break. *n_lines 0: there is no file. path NULL: lines
 * are only counted. False: e has the reason. */
bool stacks_write(const struct collection *s, enum time_metric metric, const char *path, uint64_t *n_lines,
                  struct error *e);

#endif
