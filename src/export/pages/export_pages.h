/* SPDX-License-Identifier: Apache-2.0 */
/* export_pages.h - registry: pages for a browser, and files for other tools. */
#ifndef ASCOPE_EXPORT_PAGES_EXPORT_PAGES_H
#define ASCOPE_EXPORT_PAGES_EXPORT_PAGES_H

#include "analyse/framework/frames.h"
#include "analyse/memory_timeline/memory_timeline.h"

/* stacks.c: the time of operators by the stacks that called them: as lines for flame-graph tools, and as a flame
 * graph. */

/* Writes one line for each operator with a stack and a time above 0: the frames from the outermost one on, separated by
 * ";", a blank, and whole microseconds. The last line has no line break. *n_lines 0: there is no file. path NULL: lines
 * are only counted. False: e has the reason. */
bool stacks_write(const struct collection *s, enum time_metric metric, const char *path, uint64_t *n_lines,
                  struct error *e);

/* flame_graph.c: a flame graph as a page for a browser: one file that needs no other. */

/* Writes the stacks of stacks_write() as a flame graph, with operators as innermost frames: an SVG file with a script
 * to zoom and search. False: e has the reason. */
bool flame_graph_write(const struct collection *s, enum time_metric metric, const char *path, struct error *e);

/* memory_timeline_file.c: the memory timeline as a file: numbers for programs, a page for people.
 *
 *   *.html                    a page that needs nothing else: areas over time, with what each category holds
 *   *raw.json, *raw.json.gz   [[time ns, action, bytes, category], ...], each change by itself; -1 is before all
 *   everything else           [[time us, ...], [[0, bytes of each category in order], ...]]; compressed where it ends with .gz */

/* Reads "cpu", "npu:0" or "cuda:0". False: it is another text. */
bool memory_device_read(const char *text, struct memory_device *out);
enum { MEMORY_DEVICE_TEXT = 24 };
const char *memory_device_text(struct memory_device d, char out[MEMORY_DEVICE_TEXT]);

/* `of` is the title of the page: the name of the directory. */
bool memory_timeline_write(const struct memory_timeline *m, const char *of, const char *path, struct error *e);

#endif
