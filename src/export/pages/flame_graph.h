/* SPDX-License-Identifier: Apache-2.0 */
/* flame_graph.h - a flame graph as a page for a browser: one file that needs no other. */
#ifndef ASCOPE_EXPORT_PAGES_FLAME_GRAPH_H
#define ASCOPE_EXPORT_PAGES_FLAME_GRAPH_H

#include "export/pages/stacks.h"

/* Writes the stacks of stacks_write() as a flame graph, with operators as innermost frames: an SVG file with a script
 * to zoom and search. False: e has the reason. */
bool flame_graph_write(const struct collection *s, enum time_metric metric, const char *path, struct error *e);

#endif
